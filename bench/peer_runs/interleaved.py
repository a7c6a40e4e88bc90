"""Runs several runtimes on one model in turn, so that a slow minute of the machine hits all alike."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import numpy

WORKER = pathlib.Path(__file__).with_name("worker.py")
MOST_FOREIGN_CORES = 0.15
MOST_ATTEMPTS = 6
LEAST_CORES = 1.7  # that two cores must be worth


class Failed(Exception):
    """A runtime could not run the model; the text says why."""


class Worker:
    def __init__(self, engine, model, inputs, threads, cores, label=None):
        self.engine = label or engine  # what its times are called
        self.log = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(
            [sys.executable, "-B", WORKER, engine, model, inputs, str(threads),
             ",".join(str(core) for core in cores)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.load_seconds = self.answer()["load_seconds"]
        self.process.send_signal(signal.SIGSTOP)

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.log.seek(0)
            words = self.log.read().strip().splitlines() or ["it said nothing"]
            raise Failed(f"{self.engine} ended with status {self.process.returncode}: {words[-1]}")
        return json.loads(line)

    def ask(self, **command):
        """Only this process runs until the answer; threads that would spin on are frozen after."""
        self.process.send_signal(signal.SIGCONT)
        try:
            return self.ask_awake(command)
        finally:
            self.process.send_signal(signal.SIGSTOP)

    def ask_awake(self, command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def results(self):
        with tempfile.TemporaryDirectory() as folder:
            file = str(pathlib.Path(folder, "results.npz"))
            self.ask(do="results", file=file)
            return load_arrays(file)

    def close(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()
        self.log.close()


def save_arrays(file, arrays):
    """Arrays under any names, also such that a file inside of a .npz cannot have."""
    listed = {f"a{i}": array for i, array in enumerate(arrays.values())}
    numpy.savez(file, __names__=json.dumps(list(arrays)), **listed)


def load_arrays(file):
    with numpy.load(file) as data:
        return {name: data[f"a{i}"] for i, name in enumerate(json.loads(str(data["__names__"])))}


class ForeignWork:
    """How many cores' worth of work other processes did since this object was made."""

    def __init__(self, own_pid):
        self.own_pid = own_pid
        self.begin = self.now()

    def now(self):
        with open("/proc/stat", encoding="ascii") as file:
            fields = [int(word) for word in file.readline().split()[1:]]
        busy = sum(fields[:3]) + sum(fields[5:8])  # all but idle and waiting for disks
        own = 0
        for pid in (self.own_pid, os.getpid()):
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                words = file.read().rsplit(")", 1)[1].split()
            own += int(words[11]) + int(words[12])
        return time.monotonic(), (busy - own) / os.sysconf("SC_CLK_TCK")

    def cores(self):
        (begin, busy_begin), (end, busy_end) = self.begin, self.now()
        return (busy_end - busy_begin) / max(end - begin, 1e-3)


class CoresApart:
    """Whether the cores of a virtual machine are cores of their own just now: hosts at times run two
    on the hardware threads of one, which halves what code near the peak gets of them."""

    def __init__(self, peaks, threads, patience=120):
        self.peaks = peaks  # () -> the peak of one core, of all, measured now
        self.wanted = LEAST_CORES if threads > 1 else 0
        self.patience = patience  # seconds of waiting, all turns together

    def now(self):
        if self.wanted == 0:
            return True
        one, all_cores = self.peaks()
        return all_cores >= self.wanted * one

    def wait(self):
        """Until they are, while patience lasts."""
        begin = time.monotonic()
        while self.patience > 0 and not self.now():
            time.sleep(0.5)
            self.patience -= time.monotonic() - begin
            begin = time.monotonic()


def measure(workers, rounds, bursts, seconds, apart):
    """Best time of each burst in µs, per worker an array [rounds, bursts]; and how many turns other
    processes or the host disturbed.

    Each round runs every worker once, in an order that moves on by one from round to round. A turn
    that was disturbed is taken again, a few times.
    """
    runs = {}
    for worker in workers:
        warm = worker.ask(do="burst", runs=3, seconds=0.3)["us"]
        runs[worker.engine] = 2 if min(warm) > 1e5 else 3
    best = {worker.engine: numpy.zeros((rounds, bursts)) for worker in workers}
    disturbed = 0
    for turn in range(rounds):
        first = turn % len(workers)
        for worker in workers[first:] + workers[:first]:
            for attempt in range(MOST_ATTEMPTS):
                apart.wait()
                foreign = ForeignWork(worker.process.pid)
                # One burst more than counts brings weights, code and threads back.
                for i in range(-1, bursts):
                    times = worker.ask(do="burst", runs=runs[worker.engine], seconds=seconds)["us"]
                    best[worker.engine][turn, max(i, 0)] = min(times)
                if foreign.cores() <= MOST_FOREIGN_CORES and apart.now():
                    break
                time.sleep(0.2 * attempt)
            else:
                disturbed += 1
    return best, disturbed


def ratio_interval(numerator, denominator, draws=2000, seed=1):
    """Ratio of medians, and where 95 % of such ratios lie when the rounds are drawn again."""
    rounds = numerator.shape[0]
    random = numpy.random.default_rng(seed)
    chosen = random.integers(0, rounds, (draws, rounds))
    ratios = (numpy.median(numerator[chosen].reshape(draws, -1), axis=1)
              / numpy.median(denominator[chosen].reshape(draws, -1), axis=1))
    low, high = numpy.percentile(ratios, [2.5, 97.5])
    return float(numpy.median(numerator) / numpy.median(denominator)), float(low), float(high)


def disagreement(results, reference):
    """Largest difference of any output, relative to the largest value of that output."""
    worst = 0.0
    for name, expected in reference.items():
        got = results.get(name)
        if got is None or got.shape != expected.shape:
            return float("inf")
        if expected.size == 0:
            continue
        wide, expected = got.astype(numpy.float64), expected.astype(numpy.float64)
        same = (wide == expected) | (numpy.isnan(wide) & numpy.isnan(expected))
        difference = numpy.abs(wide - expected)[~same].max(initial=0)
        if not numpy.isfinite(difference):
            return float("inf")
        largest = numpy.abs(expected[numpy.isfinite(expected)]).max(initial=0)
        worst = max(worst, float(difference / largest if largest > 0 else difference))
    return worst
