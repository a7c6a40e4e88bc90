#!/usr/bin/env python3
"""Tests of suites.py: names that one program cannot hold, and that the sources have none."""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from elf import PackageError  # noqa: E402
from suites import test_suites  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class SuitesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("cmake/suites.cmake", "attune_suite(e2e slow)\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def test_suites_have_the_label_of_their_folder(self):
        self.write("src/base/rng_test.cpp", "TEST(Rng, Draws) {}\n")
        self.write("tests/e2e/run_test.cpp", "TEST_F(Run, Ends) {}\n")
        self.assertEqual(test_suites(self.root), [("fast", "Rng"), ("slow", "Run")])

    def test_a_fixture_has_its_name_alone(self):
        self.write("src/a/a_test.cpp", "TEST_F(Same, A) {}\n")
        self.write("src/b/b_test.cpp", "TEST(Same, B) {}\n")
        with self.assertRaisesRegex(PackageError, "both have a suite 'Same'"):
            test_suites(self.root)

    def test_properties_count(self):
        self.write("src/a/a_test.cpp", "TEST(Same, A) {}\n")
        self.write("tests/e2e/b_test.cpp", "RC_GTEST_PROP(Same, B, ()) {}\n")
        self.assertEqual(test_suites(self.root), [("slow", "Same")])
        self.write("src/c/c_test.cpp", "TEST_F(Same, C) {}\n")
        with self.assertRaises(PackageError):
            test_suites(self.root)

    def test_the_sources_fit_one_program(self):
        self.assertTrue(test_suites(ROOT))


if __name__ == "__main__":
    unittest.main()
