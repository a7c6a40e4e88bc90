"""Attune's side of bench/cuda: tunes, compiles, and times artifacts in this process by the clock of
the device, through the C interface."""
import ctypes
import json
import statistics
import subprocess

import numpy

import attune_engine

REPLAYS = 15


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
    def inputs_of(self, path):
        """Random-normal values for every input of the artifact."""
        import os

        self.library = ctypes.CDLL(os.environ["ATTUNE_RUNTIME_LIBRARY"])
        self.error, self.model = attune_engine.Error(), ctypes.c_void_p()
        self.call("attune_model_load", path.encode(), ctypes.byref(self.model))
        rng = numpy.random.default_rng(1)
        found = {}
        for info in self.infos("input"):
            shape = tuple(info.shape[:info.rank])
            kind = attune_engine.TYPES[info.type]
            values = rng.standard_normal(shape) if kind.startswith("float") else numpy.zeros(shape)
            found[info.name.decode()] = values.astype(kind)
        return found

    def us(self, calls):
        """The median time of a call in a row of so many, on the device."""
        self.run()
        spent = ctypes.c_double()
        times = []
        for turn in range(REPLAYS + 3):
            self.call("attune_session_time", self.session, ctypes.c_int32(calls),
                      ctypes.byref(spent))
            if turn >= 3:
                times.append(spent.value)
        return statistics.median(times)


def artifact_us(path, calls, inputs=None):
    timed = Timed()
    timed.load(path, inputs or timed.inputs_of(path), 1)
    return timed.us(calls), timed
