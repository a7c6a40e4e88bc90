#!/usr/bin/env python3
"""Shows that setup_table.py computes the figures of a setup right on runs made up for it."""

import unittest

import setup_table


def run_of(*stages, pools=None, prefetch=1):
    """Stages are (job, kind, pool, start, end, units)."""
    return {"policy": "fair", "prefetch": prefetch, "tried": [1],
            "pools": pools or {"host": 1, "cpu": 1},
            "stages": [[job, kind, pool, start, start, end, units]
                       for job, kind, pool, start, end, units in stages]}


# Two jobs one after the other, each 4 s on the host and 6 s on the device.
ALONE = run_of(("j1", "build", "host", 0, 4, 1), ("j1", "profile", "cpu", 4, 10, 1),
               ("j2", "build", "host", 10, 14, 1), ("j2", "profile", "cpu", 14, 20, 1))


class SetupTable(unittest.TestCase):
    def test_the_bound_is_the_work_of_a_pool_or_the_longest_job(self):
        self.assertEqual(setup_table.lower_bound(ALONE, 1), 12)
        self.assertEqual(setup_table.lower_bound({**ALONE, "pools": {"host": 1, "cpu": 2}}, 1), 10)
        self.assertEqual(setup_table.lower_bound({**ALONE, "pools": {"host": 1, "cpu": 2}}, 2), 8)

    def test_the_bound_counts_all_units_of_a_stage(self):
        run = run_of(("j1", "build", "host", 0, 4, 2), ("j2", "build", "host", 4, 8, 2),
                     ("j3", "build", "host", 8, 12, 1), pools={"host": 2})
        self.assertEqual(setup_table.lower_bound(run, 1), (2 * 4 + 2 * 4 + 4) / 2)

    def test_a_pool_of_two_units_is_half_idle_when_one_works(self):
        run = run_of(("j1", "build", "host", 0, 4, 1), ("j1", "profile", "cpu", 4, 8, 1),
                     pools={"host": 2, "cpu": 1})
        self.assertEqual(setup_table.idle(run, "host"), 0.75)
        self.assertEqual(setup_table.idle(run, "cpu"), 0.5)

    def test_stages_that_share_a_unit_are_not_counted_twice(self):
        run = run_of(("j1", "build", "host", 0, 6, 1), ("j2", "build", "host", 2, 8, 1),
                     ("j1", "profile", "cpu", 8, 10, 1))
        self.assertEqual(setup_table.busy(run, "host"), 8)
        self.assertAlmostEqual(setup_table.idle(run, "host"), 0.2)

    def test_runs_without_units_had_one_of_everything(self):
        old = {key: value for key, value in ALONE.items() if key != "pools"}
        old["stages"] = [stage[:6] for stage in ALONE["stages"]]
        self.assertEqual(setup_table.markdown({"A": old}), setup_table.markdown({"A": ALONE}))

    def test_kinds_say_their_seconds_and_their_stretch(self):
        slower = run_of(("j1", "build", "host", 0, 5, 1), ("j2", "build", "host", 5, 12, 1),
                        ("j1", "profile", "cpu", 5, 11, 1), ("j2", "profile", "cpu", 12, 18, 1))
        runs = {"A": ALONE, "E": slower, "F": ALONE}
        self.assertEqual(setup_table.kinds_markdown(runs).splitlines(),
                         ["| setup | build | profile |", "| --- | --- | --- |",
                          "| A, mean seconds | 4 | 6 |", "| A, seconds in all | 8 | 12 |",
                          "| E | 1.50 | 1.00 |", "| F | 1.00 | 1.00 |"])

    def test_kinds_compare_all_stages_of_a_kind_together(self):
        halves = run_of(*(("j1", "build", "host", 2 * i, 2 * i + 2, 1) for i in range(4)))
        self.assertEqual(setup_table.kinds_markdown({"A": ALONE, "E": halves}).splitlines()[-1],
                         "| E | 1.00 | 0.00 |")

    def test_more_hardware_shares_out_the_jobs(self):
        run = run_of(("j1", "build", "host", 0, 7, 1), ("j2", "build", "host", 7, 12, 1),
                     ("j3", "build", "host", 12, 16, 1), ("j4", "build", "host", 16, 19, 1))
        self.assertEqual(setup_table.on_separate_hardware(run, 4), 7)
        self.assertEqual(setup_table.on_separate_hardware(run, 2), 10)
        self.assertEqual(len(list(setup_table.ideal_rows(run))), 2)
        self.assertEqual(len(list(setup_table.ideal_rows(ALONE))), 1)


if __name__ == "__main__":
    unittest.main()
