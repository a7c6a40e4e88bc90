#!/usr/bin/env python3
"""A scheduler with short retention, jobs that are submitted, paused, stopped, cancelled and pruned at
random, and workers that are killed; the scheduler itself is killed once, early. Where root runs it, the
scheduler is shared, and a second user does what the group may (stranger.py). Memory, descriptors and the
disk of scheduler and workers are looked at all the time, and must not grow once retention has set in.

usage: soak.py ATTUNE --minutes N [--seed N] [--folder DIR]
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import stranger

WORKERS = 3
RETENTION = ["--keep-days", "0.0003", "--keep-jobs", "12", "--keep-size", "8M", "--keep-stages", "2000",
             "--log-size", "64K"]
MODELS = ["matmul:m=64,n=64,k=64", "matmul:m=32,n=96,k=48", "elementwise:m=64,n=64,op=relu",
          "softmax:m=32,n=64"]
SAMPLE_SECONDS = 2
# The scheduler is killed, and the samples begin that are compared, after these parts of the time.
KILLED_AT, FIRST_AT, LAST_AT = 0.15, 0.4, 0.75
# What is compared: words, unit, and by how much the last quarter may be above the first: a share, and an
# amount that is noise.
MEASURES = {
    "scheduler_mb": ("memory of the scheduler", "MB", 0.10, 8),
    "worker_mb": ("memory of the largest worker", "MB", 0.20, 40),
    "scheduler_files": ("descriptors of the scheduler", "", 0.05, 6),
    "worker_files": ("descriptors of a worker", "", 0.05, 8),
    "processes": ("processes", "", 0.10, 4),
    "disk_mb": ("disk", "MB", 0.15, 3),
    "jobs": ("jobs that are known", "", 0.20, 8),
    "uploads": ("entries of uploads", "", 0.20, 4),
    "their_jobs": ("jobs of the second user", "", 0.20, 6),
}


def read(path):
    try:
        return pathlib.Path(path).read_text(errors="replace")
    except OSError:
        return ""


def descendants(pid):
    """Processes below this one, and how deep."""
    parents = {}
    for entry in os.listdir("/proc"):
        fields = read(f"/proc/{entry}/stat").rpartition(")")[2].split() if entry.isdigit() else []
        if fields:
            parents.setdefault(int(fields[1]), []).append(int(entry))
    found, waiting = {}, [(pid, 0)]
    while waiting:
        parent, depth = waiting.pop()
        for child in parents.get(parent, []):
            found[child] = depth + 1
            waiting.append((child, depth + 1))
    return found


def memory_mb(pid):
    for line in read(f"/proc/{pid}/status").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0


def files_of(pid):
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def disk_mb(folder):
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(where, name)).st_blocks * 512
            except OSError:
                pass
    return total / 2**20


class Soak:
    def __init__(self, attune, folder, seed):
        self.attune, self.state, self.records = attune, folder / "state", folder / "records.db"
        self.log = open(folder / "scheduler.log", "a")
        self.random = random.Random(seed)
        self.counts = dict.fromkeys(["submitted", "controlled", "pruned", "killed", "done", "failed"], 0)
        self.newest, self.open, self.known, self.ended = 0, [], 0, {"done": set(), "failed": set()}
        self.scheduler, self.their_jobs, self.stranger = None, 0, None
        if stranger.is_possible():
            self.stranger = stranger.Stranger(attune, folder, self.state, self.random, self.log)

    def start(self):
        shared = ["--share", stranger.GROUP] if self.stranger else []
        self.scheduler = subprocess.Popen(
            [self.attune, "scheduler", "--state", self.state, "--workers", str(WORKERS), *RETENTION, *shared],
            stdout=self.log, stderr=self.log)

    def ask(self, *words):
        """A command's JSON, or nothing when it was refused."""
        done = subprocess.run([self.attune, *words, "--state", self.state, "--json"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=120)
        if done.returncode != 0:
            self.log.write(f"{' '.join(words)}: {done.stderr}")
            return None
        return json.loads(done.stdout)

    def look(self):
        overview = self.ask("jobs", "list")
        if overview is None:
            return
        ended = {"done", "stopped", "cancelled", "failed"}
        self.open = [job["id"] for job in overview["jobs"] if job["state"] not in ended]
        for state, ids in self.ended.items():
            ids.update(job["id"] for job in overview["jobs"] if job["state"] == state)
            self.counts[state] = len(ids)
        self.known = len(overview["jobs"])
        if self.stranger:
            theirs = [job for job in overview["jobs"] if job["user"] == "nobody"]
            self.their_jobs = len(theirs)
            self.stranger.look(theirs, ended)

    def submit(self):
        model = self.random.choice(MODELS)
        trials = self.random.choice(["2", "4", "8", "64"])
        job = self.ask("submit", model, "--trials", trials, "--threads", "1", "--records", str(self.records),
                       "--history", "none", "--seed", str(self.random.randrange(1000)))
        if job is not None:
            self.counts["submitted"] += 1
            self.newest = max(self.newest, int(job["id"][1:]))

    def control(self):
        if self.open:
            wish = self.random.choice(["cancel", "cancel", "stop", "pause", "resume", "resume"])
            if self.ask("jobs", wish, self.random.choice(self.open)) is not None:
                self.counts["controlled"] += 1

    def prune(self):
        pruned = self.ask("jobs", "prune", "--older-than", "0")
        self.counts["pruned"] += len(pruned["jobs"]) if pruned else 0

    def kill(self):
        workers = [pid for pid, depth in descendants(self.scheduler.pid).items() if depth == 1]
        if workers:
            try:
                os.kill(self.random.choice(workers), signal.SIGKILL)
                self.counts["killed"] += 1
            except ProcessLookupError:
                pass

    def act_for_stranger(self):
        self.stranger.act()

    def rest(self):
        time.sleep(0.5)

    def act(self):
        self.look()
        # Never so many that wait that jobs cannot end, and most are left to end by themselves.
        busy = len(self.open) >= 6
        kinds = [(self.submit, 0 if busy else 6), (self.control, 1), (self.prune, 0.05), (self.kill, 0.1),
                 (self.rest, 6 if busy else 1), (self.act_for_stranger, 4 if self.stranger else 0)]
        self.random.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]()

    def sample(self):
        below = descendants(self.scheduler.pid)
        workers = [pid for pid, depth in below.items() if depth == 1] or [0]
        return {"scheduler_mb": memory_mb(self.scheduler.pid),
                "worker_mb": max(memory_mb(pid) for pid in workers),
                "scheduler_files": files_of(self.scheduler.pid),
                "worker_files": max(files_of(pid) for pid in workers),
                "processes": len(below), "disk_mb": disk_mb(self.state), "jobs": self.known,
                "uploads": len(list(self.state.glob("uploads/*"))), "their_jobs": self.their_jobs}

    def all_counts(self):
        return {**self.counts, **({"second user": self.stranger.counts} if self.stranger else {})}


def grown(samples):
    """What the last quarter has more of than the one before it, in words."""
    first = [s for part, s in samples if FIRST_AT <= part < LAST_AT]
    last = [s for part, s in samples if part >= LAST_AT]
    findings = []
    for name, (words, unit, share, noise) in MEASURES.items():
        before, after = (statistics.median(s[name] for s in some) for some in (first, last))
        most = before * (1 + share) + noise
        print(f"{words}: {before:.1f} {unit} then {after:.1f} {unit}, at most {most:.1f}")
        if after > most:
            findings.append(f"{words} grew from {before:.1f} to {after:.1f} {unit}")
    return findings


def run(soak, minutes):
    samples, findings, killed = [], [], False
    begun, shown, sampled = time.monotonic(), -1, -SAMPLE_SECONDS
    soak.start()
    while (part := (time.monotonic() - begun) / (60 * minutes)) < 1:
        if soak.scheduler.poll() is not None:
            return samples, [f"the scheduler ended with {soak.scheduler.returncode}"]
        if not killed and part >= KILLED_AT:
            soak.scheduler.kill()
            soak.scheduler.wait()
            soak.start()
            killed = True
        soak.act()
        if time.monotonic() - sampled >= SAMPLE_SECONDS:
            sampled = time.monotonic()
            samples.append((part, soak.sample()))
            if int(part * 20) != shown:
                shown = int(part * 20)
                print(f"{part:4.0%} {json.dumps({k: round(v, 1) for k, v in samples[-1][1].items()})} "
                      f"{json.dumps(soak.all_counts())}", flush=True)
    findings += grown(samples)
    if soak.newest - soak.known < 10:
        findings.append(f"of {soak.newest} jobs {soak.known} are known still: retention did nothing")
    for what in ("killed", "done", "pruned", "controlled"):
        if soak.counts[what] == 0:
            findings.append(f"nothing was {what}")
    if soak.stranger is None:
        print("soak: without a second user, for which root has to run it")
    else:
        findings += [f"nothing was {what} for the second user" for what in ("sent", "fetched", "broken off")
                     if soak.stranger.counts[what] == 0]
    return samples, findings


def main():
    parser = argparse.ArgumentParser(usage=__doc__.rpartition("usage: ")[2])
    parser.add_argument("attune")
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=pathlib.Path)
    options = parser.parse_args()
    folder = options.folder or pathlib.Path(tempfile.mkdtemp(prefix="attune_soak_"))
    folder.mkdir(parents=True, exist_ok=True)
    soak = Soak(options.attune, folder, options.seed)
    try:
        samples, findings = run(soak, options.minutes)
    finally:
        soak.scheduler.terminate()
        soak.scheduler.wait()
    for finding in findings:
        print(f"soak: {finding}")
    print(f"soak: {'FAILED' if findings else 'passed'}; {options.minutes:g} minutes, {len(samples)} samples, "
          f"{json.dumps(soak.all_counts())}; seed {options.seed}{f', {folder}' if findings else ''}")
    if not findings and options.folder is None:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
