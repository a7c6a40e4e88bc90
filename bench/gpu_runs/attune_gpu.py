"""Attune's side of bench/cuda: tunes, compiles, and times artifacts in this process by the clock of
the device, through the C interface."""
import contextlib
import ctypes
import json
import os
import statistics
import subprocess

import numpy

import attune_engine

REPLAYS, WARM = 15, 3
# How launches make room for those behind them (src/targets/cuda/device/image.h). What is tuned as a
# whole has chosen for each.
WAYS = {"plain": "0", "early": "1", "mid": "2", "end": "3", "early alone": "4", "mid alone": "5"}
MODEL_WAYS = {"plain": "0", "as tuned": ""}


class Program:
    """The command, with one file of records for all that is asked of it."""

    def __init__(self, path, records, target):
        self.path, self.records, self.target = path, records, target

    def call(self, *arguments):
        run = subprocess.run([self.path, *arguments], capture_output=True, text=True, check=False)
        if run.returncode != 0:
            said = (run.stderr.strip().splitlines() or ["it says nothing"])
            raise RuntimeError(f"attune {arguments[0]}: {' '.join(said[-2:])}")
        return run.stdout

    def tune(self, model, precision, limits):
        """The report of tuning."""
        return json.loads(self.call("tune", model, "--target", self.target, "--precision", precision,
                                    "--records", self.records, "--json", *limits))

    def compile(self, model, precision, file, tuned):
        history = [] if tuned else ["--history", "none"]
        self.call("compile", model, "--target", self.target, "--precision", precision, "--records",
                  self.records, "-o", file, *history)
        return file

    def export(self, model, file):
        self.call("zoo", "export", model, "-o", file)
        return file


class Timed(attune_engine.Attune):
    """A session that has run once."""

    def __init__(self, path, inputs=None):
        self.load(path, inputs or inputs_of(path), 1)
        self.run()

    def close(self):
        for name, what in (("session", self.session), ("model", self.model),
                           ("thread_pool", self.pool)):
            getattr(self.library, f"attune_{name}_destroy")(what)


class Interface(attune_engine.Attune):
    """What an artifact takes, and nothing else of it."""

    def __init__(self, path):
        self.library = ctypes.CDLL(os.environ["ATTUNE_RUNTIME_LIBRARY"])
        self.error, self.model = attune_engine.Error(), ctypes.c_void_p()
        self.call("attune_model_load", path.encode(), ctypes.byref(self.model))
        self.inputs = list(self.infos("input"))


def inputs_of(path):
    """Random-normal values for every input of the artifact."""
    rng, found, interface = numpy.random.default_rng(1), {}, Interface(path)
    for info in interface.inputs:
        shape = tuple(info.shape[:info.rank])
        kind = attune_engine.TYPES[info.type]
        values = rng.standard_normal(shape) if kind.startswith("float") else numpy.zeros(shape)
        found[info.name.decode()] = values.astype(kind)
    interface.library.attune_model_destroy(interface.model)
    return found


@contextlib.contextmanager
def launched(way):
    """Artifacts that are loaded within have their launches in this way; empty: as they say."""
    os.environ["ATTUNE_CUDA_WAY"] = way
    try:
        yield
    finally:
        del os.environ["ATTUNE_CUDA_WAY"]


def sequence_us(paths, calls):
    """The median time of all artifacts, one after the other, each with inputs and weights of its
    own, in a graph of so many calls."""
    timed = [Timed(path) for path in paths]
    sessions = (ctypes.c_void_p * len(timed))(*(one.session for one in timed))
    spent, times = ctypes.c_double(), []
    for turn in range(REPLAYS + WARM):
        timed[0].call("attune_sessions_time", sessions, ctypes.c_int32(len(timed)),
                      ctypes.c_int32(calls), ctypes.byref(spent))
        if turn >= WARM:
            times.append(spent.value)
    for one in timed:
        one.close()
    return statistics.median(times)


def ways_us(paths, calls, ways=None):
    found = {}
    for name, way in (ways or WAYS).items():
        with launched(way):
            found[name] = sequence_us(paths, calls)
    return found
