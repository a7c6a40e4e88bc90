#!/usr/bin/env python3
"""Shows that check_docs.py finds references to files that do not exist."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import check_docs


def check(text, source=""):
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        (root / "docs").mkdir()
        (root / "README.md").write_text("")
        (root / "docs" / "a.md").write_text(text)
        (root / "src" / "base").mkdir(parents=True)
        (root / "src" / "base" / "hash.h").write_text(source)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = check_docs.main([directory])
        return status, output.getvalue()


class CheckDocs(unittest.TestCase):
    def test_good_references_pass(self):
        text = "[a](a.md) [top](../README.md#five) [web](https://example.org/x) `docs/a.md` `a/b`\n"
        self.assertEqual(check(text)[0], 0, check(text)[1])

    def test_broken_references_fail(self):
        for text in ["\n[b](b.md)\n", "\n`src/gone.h`\n"]:
            status, output = check(text)
            self.assertEqual(status, 1)
            self.assertIn("docs/a.md:2: ", output)

    def test_comments_name_sources_that_there_are(self):
        good = "// See hash.h, base/hash.h and src/base/hash.h.\nint a;  // NAME.cpp\n#include <none.h>\n"
        self.assertEqual(check("", good)[0], 0, check("", good)[1])
        for text in ["\n// See gone.h.\n", "\nint a;  // of gone.cpp\n", "\n// lower/hash.h\n"]:
            status, output = check("", text)
            self.assertEqual(status, 1)
            self.assertIn("src/base/hash.h:2: ", output)


if __name__ == "__main__":
    unittest.main()
