#!/usr/bin/env python3
"""Runs fuzz harnesses in turns until each has had its CPU time, and says what became of them.

usage: turns.py --programs DIR --corpora DIR --seconds N [--jobs N] [--resume] NAME...

After every turn DIR/../progress.json says how far each harness is, so that --resume goes on after an
interruption. Time counts for the very program that it was spent on: one that was built anew begins anew.
New inputs are kept in DIR/../corpora, what breaks a harness in DIR/../findings.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

TURN_SECONDS = 60
MEMORY_LIMIT_MB = 1024
INPUT_SECONDS = 10


def fresh(program):
    return {"program": program, "cpu_seconds": 0.0, "inputs": 0, "peak_mb": 0, "found": None}


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Progress:
    """What each harness has had, in a file."""

    def __init__(self, path, programs, resume):
        self.path = path
        try:
            kept = json.loads(path.read_text()) if resume else {}
        except (OSError, ValueError):
            kept = {}
        self.harnesses = {}
        for name, program in programs.items():
            known = kept.get(name)
            same = known is not None and known["program"] == program
            self.harnesses[name] = known if same else fresh(program)

    def save(self):
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(self.harnesses, indent=1))
        part.replace(self.path)

    def waiting(self, seconds):
        """Who needs another turn, who had least first."""
        left = [name for name, each in self.harnesses.items()
                if each["found"] is None and each["cpu_seconds"] < seconds]
        return sorted(left, key=lambda name: self.harnesses[name]["cpu_seconds"])


class Turn:
    """One harness at work."""

    def __init__(self, name, folder, corpora, seconds):
        self.name, self.log = name, folder / f"{name}.log"
        own, findings = folder / "corpora" / name, folder / "findings"
        for needed in (own, findings):
            needed.mkdir(parents=True, exist_ok=True)
        command = [folder / "bin" / f"fuzz_{name}", f"-max_total_time={max(1, round(seconds))}",
                   f"-timeout={INPUT_SECONDS}", f"-rss_limit_mb={MEMORY_LIMIT_MB}",
                   "-print_final_stats=1", f"-artifact_prefix={findings}/{name}-", own,
                   corpora / name]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def finish(self, status, usage, entry):
        """Takes the turn into the account; the process has ended with this wait status."""
        self.process.returncode = os.waitstatus_to_exitcode(status)
        text = self.log.read_text(errors="replace")
        inputs = re.search(r"^stat::number_of_executed_units: *(\d+)", text, re.MULTILINE)
        entry["cpu_seconds"] += usage.ru_utime + usage.ru_stime
        entry["inputs"] += int(inputs.group(1)) if inputs else 0
        entry["peak_mb"] = max(entry["peak_mb"], usage.ru_maxrss // 1024)
        if self.process.returncode != 0:
            entry["found"] = str(self.log)

    def why(self):
        lines = self.log.read_text(errors="replace").splitlines()
        told = [line for line in lines
                if re.search(r"^SUMMARY|ERROR:|check failed|Test unit written", line)]
        return told[:3]


def run_turns(progress, folder, corpora, seconds, jobs, say):
    """Until nobody waits. As many side by side as asked for."""
    running = {}
    try:
        while True:
            waiting = [name for name in progress.waiting(seconds)
                       if name not in (turn.name for turn in running.values())]
            while waiting and len(running) < jobs:
                name = waiting.pop(0)
                left = seconds - progress.harnesses[name]["cpu_seconds"]
                turn = Turn(name, folder, corpora, min(TURN_SECONDS, left))
                running[turn.process.pid] = turn
            if not running:
                return
            pid, status, usage = os.wait4(-1, 0)
            turn = running.pop(pid, None)
            if turn is None:
                continue
            entry = progress.harnesses[turn.name]
            turn.finish(status, usage, entry)
            progress.save()
            say(f"{turn.name}: {entry['cpu_seconds']:.0f} of {seconds} s"
                + (" FOUND something" if entry["found"] else ""))
            for line in turn.why() if entry["found"] else []:
                say("  " + line)
    finally:
        for turn in running.values():
            turn.process.send_signal(signal.SIGKILL)
            turn.process.wait()


def table(progress, seconds):
    """Who had how much, and the sum."""
    lines = [f"{'harness':<16}{'CPU s':>8}{'inputs':>14}{'peak MB':>9}  result"]
    for name, each in progress.harnesses.items():
        result = ("found: " + each["found"] if each["found"] else
                  "nothing" if each["cpu_seconds"] >= seconds else "not finished")
        lines.append(f"{name:<16}{each['cpu_seconds']:>8.0f}{each['inputs']:>14,}"
                     f"{each['peak_mb']:>9}  {result}")
    total = sum(each["cpu_seconds"] for each in progress.harnesses.values())
    lines.append(f"{len(progress.harnesses)} harnesses, {total / 60:.1f} CPU minutes in all; at most "
                 f"{MEMORY_LIMIT_MB} MB of memory and {INPUT_SECONDS} s for an input")
    return lines


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--corpora", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=int, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("names", nargs="+")
    options = parser.parse_args(arguments)
    folder = options.programs.parent
    programs = {name: digest(options.programs / f"fuzz_{name}") for name in options.names}
    progress = Progress(folder / "progress.json", programs, options.resume)
    started, interrupted = time.monotonic(), False
    try:
        run_turns(progress, folder, options.corpora, options.seconds, options.jobs,
                  lambda line: print(line, flush=True))
    except KeyboardInterrupt:
        interrupted = True
    print("\n".join(table(progress, options.seconds)))
    done = not progress.waiting(options.seconds)
    found = any(each["found"] for each in progress.harnesses.values())
    verdict = "FAILED" if found else "passed" if done else "interrupted, --resume goes on"
    print(f"fuzz: {verdict}; {time.monotonic() - started:.0f} s")
    return 1 if found or interrupted or not done else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
