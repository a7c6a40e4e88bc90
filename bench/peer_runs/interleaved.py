"""Runs several runtimes on one model in turn, so that a slow minute of the machine hits all alike."""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy

WORKER = pathlib.Path(__file__).with_name("worker.py")
PAUSE_SECONDS = 0.02  # lets threads that spin after a run go to sleep


class Failed(Exception):
    """A runtime could not run the model; the text says why."""


class Worker:
    def __init__(self, engine, model, inputs, threads, cores):
        self.engine = engine
        self.log = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(
            [sys.executable, "-B", WORKER, engine, model, inputs, str(threads),
             ",".join(str(core) for core in cores)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.load_seconds = self.answer()["load_seconds"]

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.log.seek(0)
            words = self.log.read().strip().splitlines() or ["it said nothing"]
            raise Failed(f"{self.engine} ended with status {self.process.returncode}: {words[-1]}")
        return json.loads(line)

    def ask(self, **command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def results(self):
        with tempfile.TemporaryDirectory() as folder:
            file = str(pathlib.Path(folder, "results.npz"))
            self.ask(do="results", file=file)
            return load_arrays(file)

    def close(self):
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


def measure(workers, rounds, bursts, seconds):
    """Best time of each burst in µs, per worker an array [rounds, bursts].

    Each round runs every worker once, in an order that moves on by one from round to round.
    """
    runs = {}
    for worker in workers:
        warm = worker.ask(do="burst", runs=3, seconds=0.3)["us"]
        runs[worker.engine] = 2 if min(warm) > 1e5 else 3
    best = {worker.engine: numpy.zeros((rounds, bursts)) for worker in workers}
    for turn in range(rounds):
        first = turn % len(workers)
        for worker in workers[first:] + workers[:first]:
            time.sleep(PAUSE_SECONDS)
            worker.ask(do="burst", runs=1, seconds=0)  # brings weights and code back to the caches
            for i in range(bursts):
                times = worker.ask(do="burst", runs=runs[worker.engine], seconds=seconds)["us"]
                best[worker.engine][turn, i] = min(times)
    return best


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
        difference = numpy.abs(got.astype(numpy.float64) - expected.astype(numpy.float64)).max()
        largest = numpy.abs(expected.astype(numpy.float64)).max()
        worst = max(worst, float(difference / largest if largest > 0 else difference))
    return worst
