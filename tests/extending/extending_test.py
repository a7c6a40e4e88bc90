#!/usr/bin/env python3
"""Applies each patch of this folder to a copy of the tree, builds the program and the tests that an
addition of its kind could break, runs these, and uses what the patch adds. A patch that touches more than
it may (patches.py), no longer applies, does not build, breaks a test or does not work fails. `./test
extending` runs this; `./test extending -- step policy` some of them.
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
import patched_tree  # noqa: E402
import patches  # noqa: E402
from model_files import read_npy, write_npy, write_onnx  # noqa: E402

NUMBERS = [-1.5, -0.25, 0.0, 0.5, 1.0, 2.0]


class Extending(unittest.TestCase):
    program = None

    @classmethod
    def setUpClass(cls):
        patched_tree.bring_up_to_date()

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="attune-extending-")
        self.addCleanup(directory.cleanup)
        self.place = pathlib.Path(directory.name)

    def apply(self, name):
        started = time.monotonic()
        self.assertEqual(list(patches.offences(name, patches.path_of(name).read_text())), [])
        self.addCleanup(patched_tree.undo)
        patched_tree.apply(name)
        patched_tree.check()
        tests = patches.tests_of(name)
        self.program = patched_tree.build("attune", *(program for program, _ in tests))
        print(f"{name}: built in {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
        for program, chosen in tests:
            with self.subTest(program):
                patched_tree.test(program, chosen)

    def attune(self, *arguments, status=0):
        done = subprocess.run([self.program, *map(str, arguments)], cwd=self.place, text=True,
                              capture_output=True, timeout=300, check=False)
        self.assertEqual(done.returncode, status, f"attune {arguments}: {done.stderr[-2000:]}")
        return done.stdout if status == 0 else done.stderr

    def assert_near(self, found, expected):
        self.assertEqual(len(found), len(expected))
        for a, b in zip(found, expected):
            self.assertAlmostEqual(a, b, delta=1e-5 * max(1, abs(b)))

    def tuned(self, model, *options):
        report = json.loads(self.attune("tune", model, "--trials", 6, "--history", "none", "--records",
                                        self.place / "records.db", "--json", *options))
        self.assertGreater(report["tasks"][0]["best_us"], 0)
        return report["tasks"][0]

    def test_operator(self):
        self.apply("operator")
        spec = "elementwise:m=2,n=3,op=cube"
        write_npy(self.place / "x.npy", (2, 3), NUMBERS)
        self.attune("run", spec, "--input", "data=x.npy", "--output", "out", "--records", "none.db")
        self.assert_near(read_npy(self.place / "out" / "output.npy"), [x**3 for x in NUMBERS])
        self.assertIn("cube", self.attune("compile", spec, "--emit", "graph"))
        self.attune("check", "elementwise:m=5,n=37,op=relu+cube,dtype=i32", "--records", "none.db")

    def test_heavy_operator(self):
        self.apply("heavy_operator")
        a, b = [0.5 * i for i in range(6)], [1.0 - 0.25 * i for i in range(12)]
        write_npy(self.place / "a.npy", (2, 3), a)
        write_npy(self.place / "b.npy", (3, 4), b)
        self.attune("run", "distance:m=2,n=4,k=3", "--input", "a=a.npy", "--input", "b=b.npy",
                    "--output", "out", "--records", "none.db")
        self.assert_near(read_npy(self.place / "out" / "output.npy"),
                         [sum((a[3 * i + k] - b[4 * k + j]) ** 2 for k in range(3))
                          for i in range(2) for j in range(4)])
        spec = "distance:m=33,n=70,k=19"
        trace = self.attune("compile", spec, "--emit", "trace", "--default")
        self.assertIn("reorder anchor feature row column.0 column.1", trace)
        self.attune("check", spec, "--records", "none.db")
        # Its knobs are what is tuned: 3 x 3 choices.
        task = self.tuned(spec)
        self.assertGreater(task["trials"], 1)

    def test_step(self):
        self.apply("step")
        spec = "elementwise:m=4,n=30,op=relu"
        # Its two dimensions are one loop of 120.
        (self.place / "trace").write_text("chunk output d0 3\nunroll output d0.0\nvectorize output d0.1\n")
        loops = self.attune("compile", spec, "--schedule", "trace", "--emit", "trace,loops")
        self.assertIn("chunk output d0 3", loops)
        self.attune("check", spec, "--schedule", "trace")
        (self.place / "trace").write_text("chunk output d0 121\n")
        self.assertIn("line 1 of the trace: loop 'd0' of stage 'output' has 120 iterations and cannot be "
                      "cut into 121 parts",
                      self.attune("compile", spec, "--schedule", "trace", "--emit", "loops", status=2))

    def test_policy(self):
        self.apply("policy")
        report = self.attune("simulate", "--policy", "fair,shortest", "--jobs", 4, "--seeds", 2)
        self.assertIn("shortest", report)
        self.assertIn("shortest", self.attune("simulate", "--policy", "none", status=2))

    def test_explorer(self):
        self.apply("explorer")
        task = self.tuned("matmul:m=32,n=32,k=32", "--explorer", "climbing")
        self.assertEqual(task["trials"], 6)

    def test_learner(self):
        self.apply("learner")
        task = self.tuned("matmul:m=32,n=32,k=32", "--model", "nearest")
        self.assertEqual(task["trials"], 6)
        self.assertIn("nearest", self.attune("tune", "--help"))

    def test_converter(self):
        self.apply("converter")
        write_onnx(self.place / "m.onnx", "com.microsoft", "FastGelu", ["x", "bias"], (2, 3))
        write_npy(self.place / "x.npy", (2, 3), NUMBERS)
        write_npy(self.place / "bias.npy", (2, 3), [0.125] * 6)
        self.attune("run", "m.onnx", "--input", "x=x.npy", "--input", "bias=bias.npy", "--output", "out",
                    "--records", "none.db")
        def gelu(x):
            return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
        self.assert_near(read_npy(self.place / "out" / "y.npy"), [gelu(x + 0.125) for x in NUMBERS])

    def test_command(self):
        self.apply("command")
        self.assertRegex(self.attune("version"), r"^attune \d+\.\d+\.\d+ \(LLVM ")
        self.assertRegex(json.loads(self.attune("version", "--json"))["version"], r"^\d+\.\d+\.\d+$")
        self.assertIn("says which Attune this is", self.attune("--help"))
        self.assertIn("'version' has no option", self.attune("version", "--loud", status=2))

    def test_target(self):
        self.apply("target")
        spec = "matmul:m=8,n=8,k=8"
        page = self.attune("compile", spec, "--target", "listing", "--emit", "trace,listing")
        self.assertIn("listing of kernel", page)
        self.assertIn("choose 16, 32 or 64",
                      self.attune("compile", spec, "--target", "listing -vector_bytes=7", status=2))
        # Its device runs a model, a candidate, and what conformance compares.
        self.attune("compile", "mlp", "--target", "listing -vector_bytes=32", "-o", "mlp.attune")
        self.assertIn(b"kernel ", (self.place / "mlp.attune").read_bytes())
        self.attune("run", "mlp.attune", "--output", "there")
        self.attune("run", "mlp", "--output", "here", "--records", "none.db")
        outputs = sorted(p.name for p in (self.place / "here").iterdir())
        self.assertNotEqual(outputs, [])
        for name in outputs:
            self.assert_near(*(read_npy(self.place / run / name) for run in ["there", "here"]))
        self.attune("check", "softmax:m=3,n=37", "--target", "listing", "--records", "none.db")
        self.assertGreater(self.tuned(spec, "--target", "listing")["trials"], 1)
        patched_tree.build("conformance_every_operator_test")
        chosen = ["add", "matmul", "conv", "softmax", "transpose", "gather"]
        patched_tree.test("conformance_every_operator_test", ":".join(f"*/{one}" for one in chosen),
                          {"ATTUNE_CONFORMANCE": "listing"})

    def test_there_is_a_use_for_every_patch(self):
        uses = {n.removeprefix("test_") for n in dir(self) if n.startswith("test_")}
        self.assertEqual(sorted(uses - {"there_is_a_use_for_every_patch"}), patches.NAMES)


if __name__ == "__main__":
    names = [f"Extending.test_{a}" if a in patches.NAMES else a for a in sys.argv[1:]]
    unittest.main(argv=[sys.argv[0], *names], verbosity=2)
