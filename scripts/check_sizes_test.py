#!/usr/bin/env python3
"""Shows that check_sizes.py finds long files, empty names and unfinished work."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import check_sizes


def check(path, text):
    """Runs the check over a tree with one file; returns (exit status, output)."""
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = check_sizes.main([directory])
        return status, output.getvalue()


class CheckSizes(unittest.TestCase):
    def assert_refused(self, path, text, expected):
        status, output = check(path, text)
        self.assertEqual(status, 1, output)
        self.assertIn(expected, output)

    def test_a_decent_file_passes(self):
        status, output = check("tests/hash.h", "int a;\n" * 200)
        self.assertEqual((status, output), (0, "sizes: 1 files, 0 warnings, 0 offences\n"))

    def test_long_files_warn_then_fail(self):
        status, output = check("tests/hash.h", "int a;\n" * 201)
        self.assertEqual(status, 0)
        self.assertIn("warning: tests/hash.h: 201 lines, aim for 200", output)
        self.assertEqual(check("tests/hash.cpp", "int a;\n" * 400)[0], 0)
        self.assert_refused("tests/hash.cpp", "int a;\n" * 401, "401 lines, the most is 400")

    def test_programs_without_a_suffix_are_sources(self):
        text = "#!/usr/bin/env python3\n" + "a = 1\n" * 400
        self.assert_refused("bench/cuda", text, "bench/cuda: 401 lines, the most is 400")
        self.assert_refused("test", text, "test: 401 lines, the most is 400")
        self.assertEqual(check("tests/corpora/sample", "a = 1\n" * 401)[0], 0)

    def test_the_median_of_the_sources_is_small(self):
        self.assertEqual(check("src/base/hash.cpp", "int a;\n" * 77)[0], 0)
        self.assert_refused("src/base/hash.cpp", "int a;\n" * 78,
                            "src: the median of its files is 78 lines, the most is 77")
        self.assertEqual(check("tests/hash.cpp", "int a;\n" * 78)[0], 0)

    def test_names_that_say_nothing_fail(self):
        self.assert_refused("src/base/string_utils.h", "", "the name 'string_utils' says nothing")
        self.assert_refused("src/common/hash.h", "", "the name 'common' says nothing")
        self.assert_refused("src/base/a.h", "class DeviceManager {\n", "the name 'DeviceManager'")
        self.assertEqual(check("src/compiler/common_subexpressions.cpp", "")[0], 0)

    def test_unfinished_work_fails(self):
        self.assert_refused("src/base/a.h", "// TO" "DO: later\n", "src/base/a.h:1: 'TO" "DO'")
        self.assert_refused("tests/a.cpp", "// FIX" "ME\n", "marks unfinished work")
        self.assert_refused("src/a.cpp", '"not implement' 'ed"\n', "marks unfinished work")


if __name__ == "__main__":
    unittest.main()
