#!/usr/bin/env python3
"""Shows that builds_table.py computes ratios and means right on rows made up for it."""
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "scripts")]
sys.dont_write_bytecode = True

import builds_table  # noqa: E402


def row(model, before, after, threads=1, kind="tuned"):
    return {"model": model, "threads": threads, "kind": kind,
            "median_ms": {"before": before, "after": after},
            "best_ms": {"before": before / 2, "after": after / 4}}


class BuildsTable(unittest.TestCase):
    def test_a_later_build_that_takes_half_the_time_is_twice_as_fast(self):
        self.assertEqual(builds_table.ratio(row("a", 8, 4)), 2)
        self.assertEqual(builds_table.ratio(row("a", 8, 4), "best_ms"), 4)

    def test_means_are_of_one_kind_and_number_of_threads(self):
        rows = [row("a", 4, 1), row("b", 1, 1), row("c", 9, 1, threads=2), row("d", 1, 2, kind="untuned")]
        self.assertEqual(list(builds_table.means(rows)), [
            "tuned, 1 threads: 2.000 in the geometric mean of 2 (by the fastest 4.000), least b 1.000",
            "tuned, 2 threads: 9.000 in the geometric mean of 1 (by the fastest 18.000), least c 9.000",
            "untuned, 1 threads: 0.500 in the geometric mean of 1 (by the fastest 1.000), least d 0.500"])

    def test_every_row_has_a_line_in_the_table(self):
        page = builds_table.page([row("a", 4, 1), row("b", 1, 1)])
        self.assertIn("| a | tuned | 1 | 4.000 | 1.000 | 4.000 | 8.000 |", page)
        self.assertIn("| b | tuned | 1 | 1.000 | 1.000 | 1.000 | 2.000 |", page)


if __name__ == "__main__":
    unittest.main()
