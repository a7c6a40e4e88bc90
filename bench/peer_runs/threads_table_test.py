#!/usr/bin/env python3
"""Shows that threads_table.py computes scaling, means and faults right on rows made up for it."""

import unittest

import threads_table


def row(model, threads, attune, peer, kind="untuned"):
    return {"model": model, "threads": threads, "kind": kind,
            "latency_ms": {"attune": attune, "onnxruntime": peer},
            "ratio": {"onnxruntime": {"ratio": peer / attune}}, "max_error": {"attune": 1e-6}}


def beyond(threads, ms, all_cores, error):
    return {"model": "a", "threads": threads, "kind": threads_table.BEYOND,
            "latency_ms": {"attune": ms, "all cores": all_cores}, "ratio": {},
            "max_error": {"one thread": error}}


ROWS = [row("a", 1, 8, 8), row("a", 4, 2, 4), row("b", 1, 9, 9), row("b", 4, 3, 24),
        row("a", 4, 1, 4, "tuned")]


class ThreadsTable(unittest.TestCase):
    def test_scaling_is_against_one_thread_of_the_same_kind(self):
        self.assertEqual(threads_table.scaling(ROWS, ROWS[1], "attune"), 4)
        self.assertEqual(threads_table.scaling(ROWS, ROWS[1], "onnxruntime"), 2)
        self.assertEqual(threads_table.scaling(ROWS, ROWS[0], "attune"), 1)
        self.assertIsNone(threads_table.scaling(ROWS, ROWS[4], "attune"))

    def test_means_are_geometric_over_models(self):
        lines = threads_table.mean_lines(ROWS, ["onnxruntime"])
        self.assertIn("| untuned | 4 | 2 | 4.00 | 2.00 | 3.46 |", lines)
        self.assertIn("| tuned | 4 | 1 | 4.00 | 4.00 | – |", lines)

    def test_rows_without_a_peer_have_scaling_alone(self):
        alone = [{**r, "ratio": {}, "max_error": {}} for r in ROWS]
        self.assertIn("| a | untuned | 4 | 2.000 | 4.00 | – |", threads_table.threads_lines(alone, []))

    def test_more_threads_than_cores_are_a_table_of_their_own(self):
        page = threads_table.page([*ROWS, beyond(8, 3, 2, 0)], ["onnxruntime"])
        self.assertIn("| a | 8 | 3.000 | 2.000 | 0.67 | 0.0e+00 |", page)
        self.assertEqual(page.count("| 8 |"), 1)

    def test_faults_are_wrong_outputs_and_less_than_half_the_speed(self):
        found = list(threads_table.faults(
            [*ROWS, beyond(3, 4, 2, 1e-6), beyond(4, 5, 2, 0), beyond(6, 2, 2, 0.1),
             beyond(8, 2, 2, float("nan"))]))
        self.assertEqual(found, ["a on 4 threads has 0.40 of the speed with all cores",
                                 "a on 6 threads differs from one thread by 1.0e-01",
                                 "a on 8 threads differs from one thread by nan"])


if __name__ == "__main__":
    unittest.main()
