#!/usr/bin/env python3
"""Shows that check_functions.py finds long functions, and takes nothing else for one."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import check_functions


def check(path, text):
    """Runs the check over a tree with one file; returns (exit status, output)."""
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory) / path
        file.parent.mkdir(parents=True)
        file.write_text(text)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = check_functions.main([directory])
        return status, output.getvalue()


def body(lines, indent="  "):
    return f"{indent}a()\n" * lines


class CheckFunctions(unittest.TestCase):
    def assert_long(self, path, text, where):
        status, output = check(path, text)
        self.assertEqual(status, 1, output)
        self.assertIn(f"{path}:{where}: a function of 61 lines, the most is 60", output)

    def assert_passes(self, path, text):
        status, output = check(path, text)
        self.assertEqual(status, 0, output)

    def test_functions_are_counted_from_signature_to_brace(self):
        self.assert_passes("src/a.cpp", "int f() {\n" + body(58) + "}\n")
        self.assert_long("src/a.cpp", "\nint f() {\n" + body(59) + "}\n", 2)
        self.assert_long("src/a.cpp", "int f(int a,\n      int b) {\n" + body(58) + "}\n", 1)
        self.assert_long("tests/a.cpp", "TEST(A, B) {\n" + body(59) + "}\n", 1)

    def test_two_functions_are_not_one(self):
        self.assert_passes("src/a.cpp", ("int f() {\n" + body(40) + "}\n") * 2)

    def test_methods_in_a_class_count(self):
        text = "class A {\n public:\n  int f() {\n" + body(59, "    ") + "  }\n};\n"
        self.assert_long("src/a.h", text, 3)
        self.assert_passes("src/a.h", "struct A {\n" + body(100) + "};\n")

    def test_tables_and_namespaces_are_no_functions(self):
        self.assert_passes("src/a.cpp", "constexpr int kAll[] = {\n" + "  1,\n" * 100 + "};\n")
        self.assert_passes("src/a.cpp", "namespace a {\n" + "int b;\n" * 100 + "}  // namespace a\n")

    def test_braces_in_texts_do_not_end_a_function(self):
        text = 'int f() {\n  a(R"(b {\n}\n)");\n' + body(56) + "}\n"
        self.assert_long("src/a.cpp", text, 1)

    def test_scripts_count_with_and_without_suffix(self):
        self.assert_long("scripts/a.py", "def f():\n" + body(60, "    "), 1)
        self.assert_long("bench/a", "#!/usr/bin/env python3\ndef f():\n" + body(60, "    "), 2)
        self.assert_long("scripts/a.sh", "f() {\n" + body(59) + "}\n", 1)
        self.assert_long("scripts/a", "#!/usr/bin/env bash\nf() {\n" + body(59) + "}\n", 2)


if __name__ == "__main__":
    unittest.main()
