#!/usr/bin/env python3
"""Every patch applies to this tree and touches no more than it may; `./test extending` builds, tests and
uses them."""
import sys
import unittest

sys.dont_write_bytecode = True
import patches  # noqa: E402


def patch_of(*files):
    """A patch from (path, is it new, lines added, lines removed) of each file."""
    text = ""
    for path, new, added, removed in files:
        text += f"diff --git a/{path} b/{path}\n" + ("new file mode 100644\n" if new else "")
        text += f"--- a/{path}\n+++ b/{path}\n" + "+x\n" * added + "-y\n" * removed
    return text


LINE = ("src/a/list.inc", False, 1, 0)


class Counting(unittest.TestCase):
    def offences(self, name, *files):
        return list(patches.offences(name, patch_of(*files)))

    def test_a_file_and_a_line(self):
        self.assertEqual(self.offences("policy", ("src/a/new.cpp", True, 40, 0), LINE), [])

    def test_docs_and_tests_do_not_count(self):
        self.assertEqual(self.offences("policy", ("src/a/new.cpp", True, 9, 0), LINE,
                                       ("docs/x.md", False, 3, 3), ("tests/e2e/x.cpp", True, 9, 0),
                                       ("src/a/new_test.cpp", True, 9, 0)), [])

    def test_a_second_file(self):
        self.assertEqual(
            self.offences("policy", ("src/a/n.h", True, 9, 0), ("src/a/n.cpp", True, 9, 0), LINE),
            ["policy adds 2 files, at most 1: src/a/n.h, src/a/n.cpp"])

    def test_a_second_line(self):
        self.assertEqual(
            self.offences("policy", ("src/a/list.inc", False, 2, 1)),
            ["policy adds 2 lines to src/a/list.inc and removes 1, instead of adding one"])

    def test_a_change_elsewhere(self):
        self.assertEqual(
            self.offences("policy", LINE, ("src/a/b.cpp", False, 1, 0)),
            ["policy changes src/a/b.cpp, which is no list",
             "policy changes 2 files, at most 1: src/a/list.inc, src/a/b.cpp"])

    def test_a_heavy_operator_has_four_files(self):
        four = [("src/o/x.cpp", True, 9, 0), ("src/t/x.cpp", True, 9, 0),
                ("src/o/list.inc", False, 1, 0), ("src/t/list.inc", False, 1, 0)]
        self.assertEqual(self.offences("heavy_operator", *four), [])
        self.assertEqual(len(self.offences("heavy_operator", *four, ("src/o/y.h", True, 1, 0))), 1)

    def test_a_target_is_a_folder_and_a_line(self):
        inside = [("src/targets/x/facts/a.cpp", True, 9, 0), ("src/targets/x/codegen/a.cpp", True, 9, 0)]
        self.assertEqual(self.offences("target", *inside, LINE), [])
        self.assertEqual(len(self.offences("target", *inside, ("src/b/a.cpp", True, 9, 0))), 1)


class Patches(unittest.TestCase):
    def test_there_is_one_for_each_kind_of_extension(self):
        self.assertEqual(patches.NAMES, ["command", "converter", "explorer", "heavy_operator",
                                         "learner", "operator", "policy", "step", "target"])

    def test_each_touches_little(self):
        for name in patches.NAMES:
            with self.subTest(name):
                self.assertEqual(list(patches.offences(name, patches.path_of(name).read_text())), [])

    def test_each_names_tests_that_there_are(self):
        for name in patches.NAMES:
            with self.subTest(name):
                programs = {program for program, _ in patches.tests_of(name)}
                self.assertNotEqual(programs, set())
                self.assertEqual(programs - patches.test_programs(), set())
                self.assertEqual([each for each in patches.tests_of(name) if not patches.is_there(*each)], [])

    def test_each_applies(self):
        for name in patches.NAMES:
            with self.subTest(name):
                done = patches.git_apply(name, "--check")
                self.assertEqual(done.returncode, 0, f"{patches.how_to_refresh(name)}\n{done.stdout}")


if __name__ == "__main__":
    unittest.main()
