#!/usr/bin/env python3
"""Shows that bench/cuda makes the rows it is asked for, keeps them, and goes on where it ended, with
made-up times on both sides."""
import importlib.machinery
import importlib.util
import json
import pathlib
import sys
import tempfile
import types
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "scripts")]
sys.dont_write_bytecode = True

import rows  # noqa: E402
import workloads  # noqa: E402


def load_program():
    loader = importlib.machinery.SourceFileLoader("cuda_bench", str(HERE.parent / "cuda"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("cuda_bench", loader))
    loader.exec_module(module)
    return module


cuda = load_program()


class Ours:
    """Attune that takes what a test says."""
    MODEL_WAYS = {"plain": "0", "as tuned": ""}

    def __init__(self, plain):
        self.plain, self.tuned, self.files = plain, [], []
        self.Program = lambda *_: self

    def tune(self, text, precision, limits):
        self.tuned.append((text, precision, *limits))
        return {"seconds": 4, "trials_per_second": 32}

    def compile(self, text, precision, file, tuned):
        self.files.append((text, precision, tuned))

    def export(self, model, file):
        return file

    def inputs_of(self, file):
        return {}

    def ways_us(self, files, calls, ways=None):
        return {"plain": self.plain * len(files), "early": 0.5 * self.plain * len(files)}


class Peers:
    def __init__(self, us):
        self.us = us

    def operator_us(self, work, precision):
        if work.name == "C3":
            raise RuntimeError("no such algorithm")
        return self.us, "NHWC"

    def sequence_us(self, works, precision):
        return self.us * len(works), "NHWC"

    def model_us(self, onnx, inputs, precision):
        return self.us, "NCHW"


def options(*what, **given):
    known = {"what": list(what), "precision": "f32", "untuned": False, "kind": "tuned",
             "trials": 64, "tune_seconds": 60, "rows": 100, "seconds": 1e9, "again": False,
             "json": None, "attune": "attune", "target": "cuda"}
    return types.SimpleNamespace(**{**known, **given})


def run(wanted, ours=None, peers=None):
    ours = ours or Ours(2.0)
    comparison = cuda.Comparison(wanted, ours, peers or Peers(8.0))
    return cuda.run(wanted, comparison, lambda: {"card": "none", "now": None}), ours


class CudaRows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = folder.name + "/rows.json"

    def rows(self):
        return json.loads(pathlib.Path(self.file).read_text(encoding="utf-8"))["results"]

    def test_the_sequence_is_that_of_the_network(self):
        self.assertEqual(len(workloads.SEQUENCE), 20)
        self.assertEqual([work.name for work in workloads.SEQUENCE].count("C9"), 3)
        self.assertNotIn("C3", [work.name for work in workloads.SEQUENCE])

    def test_tables_rows_and_models_can_be_named(self):
        names = [row[:2] for row in workloads.wanted(["gemm", "C9", "dqn", "some.onnx"], "f32")]
        self.assertEqual(names, [("gemm", "1024³"), ("gemm", "2048³"), ("gemm", "4096³"),
                                 ("convolutions", "C9"), ("models", "dqn"),
                                 ("models", "some.onnx")])
        all_rows = list(workloads.wanted([], "f32,f16"))
        self.assertEqual(len(all_rows), 2 * (3 + 12 + 12 + 1 + 9 + 10))
        self.assertTrue(workloads.spec(all_rows[0][2]).startswith("matmul:"))

    def test_it_goes_on_where_it_ended(self):
        first = options("C1", "C2", "C4", json=self.file, rows=2)
        self.assertEqual(run(first)[0], 0)
        self.assertEqual([row["name"] for row in self.rows()], ["C1", "C2"])
        code, ours = run(options("C1", "C2", "C4", json=self.file))
        self.assertEqual((code, len(ours.tuned)), (0, 1))
        self.assertEqual([row["name"] for row in self.rows()], ["C1", "C2", "C4"])

    def test_no_row_begins_when_time_is_up(self):
        run(options("C1", json=self.file, seconds=-1))
        self.assertFalse(pathlib.Path(self.file).exists())

    def test_a_row_that_fails_spoils_no_other(self):
        self.assertEqual(run(options("C3", "C4", json=self.file))[0], 1)
        self.assertEqual([row["name"] for row in self.rows()], ["C4"])

    def test_again_keeps_the_least_and_does_not_tune(self):
        run(options("C1", json=self.file), Ours(2.0), Peers(8.0))
        _, ours = run(options("C1", json=self.file, again=True), Ours(3.0), Peers(7.0))
        row = self.rows()[0]
        self.assertEqual((ours.tuned, row["processes"]), ([], 2))
        self.assertEqual((row["ways_us"]["plain"], row["peer_us"]), (2.0, 7.0))
        self.assertEqual(row["tuning"]["trials_per_second"], 32)

    def test_the_sequence_runs_every_layer_in_order(self):
        _, ours = run(options("sequence", json=self.file))
        self.assertEqual(len(ours.files), 11)  # different layers
        self.assertEqual(self.rows()[0]["ways_us"]["plain"], 40.0)

    def test_elements_of_16_bits_are_in_the_spec(self):
        _, ours = run(options("C9", precision="f32,tf32,f16", json=self.file))
        texts = [(text.rpartition(",")[2], precision) for text, precision, *_ in ours.tuned]
        self.assertEqual(texts, [("pad=1", "f32"), ("pad=1", "tf32"), ("dtype=f16", "f32")])

    def test_lines_and_means(self):
        run(options("C1", "dqn", json=self.file))
        made = self.rows()
        self.assertEqual(rows.line(made[0]), "| convolutions | C1 | f32 | tuned | 2.00 | 1.00 | "
                                             "8.00 (NHWC) | 4.00 | 8.00 |")
        self.assertEqual(list(rows.means(made))[0],
                         "convolutions, f32, tuned: geometric mean of 1: plain 4.00, least 4.00; "
                         "overlapped 8.00, least 8.00; 32.0 trials a second")


if __name__ == "__main__":
    unittest.main()
