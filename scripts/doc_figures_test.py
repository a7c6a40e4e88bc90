#!/usr/bin/env python3
"""Shows that doc_figures.py finds figures that are not as the raw rows say, and mends them."""

import contextlib
import io
import json
import pathlib
import shutil
import tempfile
import unittest

import doc_figures
import marked_text

BUNDLE = "src/compiler/model/schedules/bundle.jsonl"


def run(*arguments):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        status = doc_figures.main(list(arguments))
    return status, output.getvalue()


class DocFigures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ["docs", "bench/results"]:
            shutil.copytree(doc_figures.ROOT / name, self.root / name)
        for name in ["README.md", BUNDLE]:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(doc_figures.ROOT / name, self.root / name)
        run("--write", str(self.root))

    def change(self, name, old, new):
        text = (self.root / name).read_text(encoding="utf-8")
        self.assertIn(old, text)
        (self.root / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    def assert_stale(self, key):
        status, output = run(str(self.root))
        self.assertEqual(status, 1)
        self.assertIn(f"'{key}' is stale", output)
        self.assertEqual(run("--write", str(self.root))[0], 0)

    def test_a_page_that_was_just_written_passes(self):
        status, output = run(str(self.root))
        self.assertEqual(status, 0, output)

    def test_a_figure_typed_over_is_stale(self):
        self.change("docs/performance.md", "| matmul 512 | 1 | 2319.4 |", "| matmul 512 | 1 | 2318.4 |")
        self.assert_stale("gemm")

    def test_new_rows_make_every_page_stale_that_tells_them(self):
        peers = self.root / "bench/results/peers.json"
        document = json.loads(peers.read_text(encoding="utf-8"))
        for row in document["results"]:
            row["ratio"]["faster"]["ratio"] *= 2
        peers.write_text(json.dumps(document), encoding="utf-8")
        for key in ["peers", "peers_means", "headline", "networks"]:
            self.assertIn(f"'{key}' is stale", run(str(self.root))[1])
        self.assert_stale("peers")

    def test_rows_of_cards_are_compared(self):
        self.change("bench/results/cuda_h200.json", '"peer_us": 16.76543951034546', '"peer_us": 33.5')
        self.assert_stale("gpu_convolutions")

    def test_the_bundle_is_counted(self):
        bundle = self.root / BUNDLE
        bundle.write_text("".join(bundle.read_text(encoding="utf-8").splitlines(True)[1:]),
                          encoding="utf-8")
        self.assert_stale("bundle")

    def test_curves_give_the_tables_beside_their_pictures(self):
        self.change("docs/figures/figure12.csv", "C2,random,1,64,", "C2,random,1,64,9")
        self.assert_stale("figure12")

    def test_a_part_without_its_place_is_an_offence(self):
        self.change("README.md", "<!-- /headline -->", "")
        status, output = run(str(self.root))
        self.assertEqual(status, 1)
        self.assertIn("README.md: there is no one place marked '<!-- headline -->", output)

    def test_a_part_is_written_in_its_place_alone(self):
        text = marked_text.replaced("a <!-- k -->old<!-- /k --> b\n", "k", "new")
        self.assertEqual(text, "a <!-- k -->new<!-- /k --> b\n")
        for wrong in ["<!-- k -->", "<!-- /k --><!-- k -->", "<!-- k --><!-- /k --><!-- k -->"]:
            with self.assertRaises(marked_text.NoPlace):
                marked_text.replaced(wrong, "k", "new")


if __name__ == "__main__":
    unittest.main()
