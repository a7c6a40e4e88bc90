#!/usr/bin/env python3
"""Unpacks packages in a bare root file system and uses them there: `./test package` makes them first.

usage: package_test.py PLAIN.tar.xz WITH_TESTS_AND_BENCH.tar.xz
"""
import json
import pathlib
import sys
import tarfile
import tempfile
import unittest

sys.dont_write_bytecode = True
from bare_root import LIBC, SHELL, BareRoot  # noqa: E402

# Suites that show most at little cost: kernels are loaded, compiled and run, commands called.
SAMPLE = ["BuiltPath", "KernelModule", "CApi", "CompiledKernels", "CommandLines", "Lowering"]


class Package(unittest.TestCase):
    archive, packages = None, LIBC

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="attune-root-")
        # A user without rights must get through to it.
        pathlib.Path(self.directory.name).chmod(0o755)
        self.root = BareRoot(pathlib.Path(self.directory.name) / "root", self.packages)
        with tarfile.open(type(self).archive) as tar:
            tar.extractall(self.root.folder / "opt")
        unpacked = list((self.root.folder / "opt").iterdir())
        self.assertEqual(len(unpacked), 1, "a package unpacks into one folder")
        self.home = f"/opt/{unpacked[0].name}"

    def tearDown(self):
        self.directory.cleanup()

    def run_here(self, program, *arguments, **options):
        done = self.root.run(f"{self.home}/{program}", *arguments, **options)
        self.assertEqual(done.returncode, 0, f"{program} {arguments}: {done.stderr[-2000:]}")
        return done.stdout


class PlainPackage(Package):
    def test_it_is_small(self):
        self.assertLessEqual(pathlib.Path(self.archive).stat().st_size, 40e6)

    def test_it_says_its_version_and_what_the_machine_has(self):
        self.assertRegex(self.run_here("attune", "--version"), r"^attune \d+\.\d+\.\d+")
        report = json.loads(self.run_here("attune", "doctor", "--json"))
        self.assertGreater(report["peak_gflops_1"], 0)

    def test_it_tunes_runs_and_serves_c_programs(self):
        tuned = json.loads(self.run_here("attune", "tune", "mlp", "--trials", "4", "--json", "-o",
                                         "/tmp/mlp.attune"))
        self.assertGreater(tuned["latency_ms"], 0)
        self.assertIn("output", self.run_here("attune", "run", "/tmp/mlp.attune"))
        self.assertIn("model 'mlp'", self.run_here("bin/example_run_model", "/tmp/mlp.attune"))

    def test_it_compiles_for_arm(self):
        target = "cpu -triple=aarch64-linux-gnu -mcpu=neoverse-n1"
        self.run_here("attune", "compile", "mlp", "--target", target, "-o", "/tmp/arm.attune")
        done = self.root.run(f"{self.home}/attune", "run", "/tmp/arm.attune")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the code is for aarch64, this machine is x86_64", done.stderr)

    def test_bad_input_is_a_sentence_here_too(self):
        done = self.root.run(f"{self.home}/attune", "run", "/no/such.attune")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("hint: ", done.stderr)

    def test_licences_come_along(self):
        folder = self.root.folder / self.home[1:]
        self.assertTrue((folder / "LICENSE").is_file())
        for name in ["llvm-19-dev", "libxgboost0", "libgrpc++1.51", "libssl3"]:
            self.assertTrue((folder / "licenses" / name).is_file(), name)


class FullPackage(Package):
    packages = SHELL

    def test_it_is_small(self):
        self.assertLessEqual(pathlib.Path(self.archive).stat().st_size, 50e6)

    def test_its_tests_pass(self):
        self.assertIn(f"passed: {len(SAMPLE)} suites", self.run_here("tests/run", *SAMPLE))

    def test_its_benchmarks_run(self):
        self.assertIn("fork", self.run_here("bin/bench_fork_join").lower())


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    PlainPackage.archive, FullPackage.archive = sys.argv[1:]
    unittest.main(argv=[sys.argv[0], "-v"], defaultTest=["PlainPackage", "FullPackage"])
