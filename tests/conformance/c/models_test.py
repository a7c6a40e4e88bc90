#!/usr/bin/env python3
"""Shows that models.py says which compilers are not here, and fails when none is left."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import models


class NoModel:
    """As good as its artifact, whatever compiles it."""

    def __init__(self, *_):
        pass

    def largest_error(self, *_):
        return 0.0


class Models(unittest.TestCase):
    def run_with(self, tools, *options):
        """Where only these programs are; returns (exit status, output)."""
        with tempfile.TemporaryDirectory() as folder:
            for tool in tools:
                (pathlib.Path(folder) / tool).touch(mode=0o755)
            output = io.StringIO()
            with mock.patch.dict("os.environ", PATH=folder), mock.patch.object(models, "Model", NoModel), \
                    mock.patch.object(sys, "argv", ["models.py", "--models", "mlp", *options]), \
                    contextlib.redirect_stdout(output):
                return models.main(), output.getvalue()

    def test_fails_when_no_compiler_is_left(self):
        status, output = self.run_with([])
        self.assertEqual(status, 1)
        self.assertEqual(output, "c: FAILED: no compiler is left; left out: gcc (no gcc), clang-19 (no clang-19), "
                                 "aarch64 (no aarch64-linux-gnu-gcc and no qemu-aarch64-static)\n")

    def test_names_in_the_end_what_is_left_out(self):
        status, output = self.run_with(["gcc", "clang-19", "aarch64-linux-gnu-gcc"])
        self.assertEqual(status, 0)
        self.assertEqual(output.splitlines()[-1], "c: passed; left out: aarch64 (no qemu-aarch64-static)")

    def test_sanitizers_need_their_compiler_too(self):
        status, output = self.run_with(["clang-19"], "--compilers", "clang-19", "--sanitize")
        self.assertEqual(status, 0)
        self.assertEqual(output.splitlines()[-1], "c: passed; left out: sanitized (no gcc)")


if __name__ == "__main__":
    unittest.main()
