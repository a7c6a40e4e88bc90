#!/usr/bin/env python3
"""Shows that harnesses get their CPU time in turns, findings are told, and --resume goes on."""

import contextlib
import io
import json
import pathlib
import tempfile
import unittest

import turns

SOUND = """#!/bin/sh
i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done
echo 'stat::number_of_executed_units: 7'
"""
BROKEN = """#!/bin/sh
echo '==1==ERROR: AddressSanitizer: heap-buffer-overflow'
exit 77
"""


class Turns(unittest.TestCase):
    def setUp(self):
        self.held = tempfile.TemporaryDirectory()
        self.addCleanup(self.held.cleanup)
        self.folder = pathlib.Path(self.held.name)
        (self.folder / "bin").mkdir()

    def write(self, name, text):
        program = self.folder / "bin" / f"fuzz_{name}"
        program.write_text(text)
        program.chmod(0o755)

    def run_them(self, names, *options, seconds=1):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = turns.main(["--programs", str(self.folder / "bin"), "--corpora", "corpora",
                                 "--seconds", str(seconds), *options, *names])
        return status, said.getvalue()

    def progress(self):
        return json.loads((self.folder / "progress.json").read_text())

    def test_each_gets_its_time(self):
        for name in ("a", "b"):
            self.write(name, SOUND)
        status, said = self.run_them(["a", "b"], "--jobs", "2")
        self.assertEqual(status, 0, said)
        self.assertIn("fuzz: passed", said)
        for each in self.progress().values():
            self.assertGreaterEqual(each["cpu_seconds"], 1)
            self.assertEqual(each["inputs"] % 7, 0)

    def test_a_finding_is_told_and_the_others_go_on(self):
        self.write("bad", BROKEN)
        self.write("good", SOUND)
        status, said = self.run_them(["bad", "good"])
        self.assertEqual(status, 1)
        self.assertIn("bad: 0 of 1 s FOUND something\n  ==1==ERROR: AddressSanitizer", said)
        self.assertRegex(said, r"good +1 .* nothing\n")
        self.assertIn("fuzz: FAILED", said)

    def test_what_was_done_counts_for_the_same_program_alone(self):
        for name in ("a", "b"):
            self.write(name, SOUND)
        self.assertEqual(self.run_them(["a", "b"])[0], 0)
        self.write("b", SOUND + "# built anew\n")
        status, said = self.run_them(["a", "b"], "--resume")
        self.assertEqual(status, 0)
        self.assertNotIn("a: ", said)
        self.assertIn("b: ", said)
        self.assertIn("a: ", self.run_them(["a"])[1], "without --resume all begins anew")


if __name__ == "__main__":
    unittest.main()
