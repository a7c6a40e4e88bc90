#!/usr/bin/env python3
"""Shows that trial_counts.py reads what bench_search writes."""

import pathlib
import tempfile
import unittest

import trial_counts

OUTPUT = """\
matmul:m=8 standard/0: 64 trials, measured in 1.0 s; a round's select 1 ms, update 1 ms, longest 2 ms
matmul:m=8: best 2.50 us
  standard         8:100.0 %, 0 of 64 failed
  in turns: standard/0@64 3.00 us 10.0 GFLOP/s standard/0@1000 2.50 us 12.0 GFLOP/s
conv2d:h=4: best 9.00 us
  in turns: standard/0@64 9.00 us standard/1@64 0.00 us
"""
TRIALS = """\
spec,variant,seed,trial,trace_hash,us,best_us,trace
a,standard,0,1,1,,0,x
a,standard,0,2,2,5,5,y
a,standard,0,3,3,4,4,z
a,standard,1,1,4,4,4,z
a,random,0,1,5,4,4,z
"""


class TrialCounts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "trials.csv"
        self.file.write_text(TRIALS, encoding="utf-8")

    def test_times_taken_in_turns_belong_to_operator_search_and_trials(self):
        self.assertEqual(trial_counts.timed_in_turns(OUTPUT), {
            "matmul:m=8": {("standard", 0, 64): 3.0, ("standard", 0, 1000): 2.5},
            "conv2d:h=4": {("standard", 0, 64): 9.0, ("standard", 1, 64): float("inf")}})

    def test_a_goal_is_reached_at_the_first_trial_that_is_as_fast(self):
        curve = trial_counts.curves(self.file)["a", "standard", 0]
        self.assertEqual(trial_counts.reached(curve, 5.1), 2)
        self.assertEqual(trial_counts.reached(curve, 4), 3)
        self.assertIsNone(trial_counts.reached(curve, 3.9))

    def test_lessons_are_the_first_trials_of_one_search(self):
        lessons = self.file.with_name("lessons.csv")
        trial_counts.write_lessons(lessons, self.file, "standard", 2)
        self.assertEqual(lessons.read_text(encoding="utf-8").splitlines(), TRIALS.splitlines()[:3])


if __name__ == "__main__":
    unittest.main()
