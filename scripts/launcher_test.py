#!/usr/bin/env python3
"""Runs ./attune and ./test in a small checkout whose apt-get, cmake, ninja and ctest are stand-ins."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = (ROOT / "scripts/packages.txt").read_text().count("\nbuild ")

# Stand-ins: each notes its call in $CALLS. `installed` and `offline` are files beside them.
TOOLS = {
    "dpkg-query": """
        for name in "$@"; do
          if [ -f "$STATE/installed" ]; then printf 'installed %s\\n' "$name"; fi
        done""",
    "apt-get": """
        if [ -f "$STATE/offline" ]; then echo "E: Unable to fetch some archives"; exit 100; fi
        case "$*" in *" install "*) : > "$STATE/installed" ;; esac""",
    "sudo": "exit 1",
    "id": 'cat "$STATE/uid"',
    "cmake": """
        mkdir -p build/release
        if [ -f "$STATE/bad_cmake" ]; then echo "CMake Error: no such thing"; exit 1; fi
        : > build/release/build.ninja
        echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" > build/release/CMakeCache.txt
        case "$*" in *TESTS=ON*) echo "ATTUNE_BUILD_TESTS:BOOL=ON" >> build/release/CMakeCache.txt ;; esac""",
    "ninja": """
        echo "[1/2] Building a.cpp"
        if [ -p "$STATE/gate" ]; then read -r _ < "$STATE/gate"; fi
        if [ -f "$STATE/bad_source" ]; then
          printf '%s\\n' "FAILED: a.o" "/usr/bin/c++ -c a.cpp -o a.o" "a.cpp:7: error: expected ';'"
          exit 1
        fi
        mkdir -p "$2/bin"
        cp "$STATE/program" "$2/bin/attune"
        echo "[2/2] Linking attune" """,
    "ctest": """
        for gate in "$STATE"/ctest_gate*; do
          if [ -p "$gate" ]; then read -r _ < "$gate"; rm "$gate"; break; fi
        done
        if [ -f "$STATE/arm_test_1.xml" ]; then
          mkdir -p "${GTEST_OUTPUT#xml:}"
          cp "$STATE"/*.xml "${GTEST_OUTPUT#xml:}"
        fi
        echo "99% tests passed, 1 tests failed out of 3"
        [ ! -f "$STATE/bad_test" ]""",
}
PROGRAM = """#!/bin/sh
printf '%s|' "$PWD" "$@"
ls -l /proc/$$/fd | grep -c '/build/.lock' >> "$STATE/open_locks"
exit 7
"""


class Launcher(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        base = pathlib.Path(directory.name).resolve()
        self.checkout, self.state = base / "checkout", base / "state"
        for name in ["attune", "test", "scripts/setup.sh", "scripts/packages.txt", "tests/busy/load.py"]:
            (self.checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.checkout / name)
        (self.checkout / "src").mkdir()
        (self.checkout / "cmake").mkdir()
        for name in ["src/a.cpp", "CMakeLists.txt", "CMakePresets.json"]:
            (self.checkout / name).write_text("")
        (self.state / "bin").mkdir(parents=True)
        for name, body in TOOLS.items():
            tool = self.state / "bin" / name
            tool.write_text(f'#!/bin/bash\necho {name} >> "$STATE/calls"\n{body}\n')
            tool.chmod(0o755)
        (self.state / "program").write_text(PROGRAM)
        (self.state / "program").chmod(0o755)
        (self.state / "uid").write_text("0\n")
        (self.state / "installed").write_text("")
        self.environment = dict(os.environ, STATE=str(self.state),
                                PATH=f"{self.state / 'bin'}:{os.environ['PATH']}")

    def start(self, *command, cwd=None):
        process = subprocess.Popen([self.checkout / command[0], *command[1:]], cwd=cwd or self.checkout,
                                   env=self.environment, text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)
        self.addCleanup(self.stop, process)
        return process

    @staticmethod
    def stop(process):
        """Also what a failed test left running."""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.communicate()

    def launch(self, *command, cwd=None):
        process = self.start(*command, cwd=cwd)
        output, errors = process.communicate(timeout=50)
        return process.returncode, output, errors

    def calls(self):
        """The stand-ins called since the last time."""
        file = self.state / "calls"
        calls = file.read_text().split() if file.exists() else []
        file.write_text("")
        return calls

    def test_builds_then_becomes_the_program(self):
        status, output, errors = self.launch("attune", "tune", "a b", cwd=self.state)
        self.assertEqual((status, output), (7, f"{self.state}|tune|a b|"))
        self.assertIn("attune: configuring build/release\n", errors)
        self.assertIn("attune: building 2 of 2\n", errors)
        self.assertEqual((self.state / "open_locks").read_text(), "0\n")

    def test_calls_no_tool_when_nothing_changed(self):
        self.launch("attune")
        self.calls()
        status, _, errors = self.launch("attune")
        self.assertEqual((status, errors, self.calls()), (7, "", []))

    def test_builds_again_after_every_kind_of_change(self):
        self.launch("attune")
        source = self.checkout / "src"
        for change in [lambda: (source / "a.cpp").write_text("int a;"),
                       lambda: (source / "b.cpp").write_text(""),
                       lambda: (source / "b.cpp").unlink(),
                       lambda: (self.checkout / "CMakeLists.txt").write_text("# b")]:
            self.calls()
            change()
            self.assertEqual(self.launch("attune")[0], 7)
            self.assertIn("ninja", self.calls())

    def test_configures_again_in_a_checkout_that_moved(self):
        self.launch("attune")
        self.checkout = self.checkout.rename(self.checkout.parent / "moved")
        self.calls()
        self.assertEqual(self.launch("attune")[0], 7)
        self.assertIn("cmake", self.calls())

    def test_installs_missing_packages_as_root(self):
        (self.state / "installed").unlink()
        status, _, errors = self.launch("attune")
        self.assertEqual(status, 7)
        self.assertIn(f"attune: installing {PACKAGES} Debian packages", errors)

    def test_says_the_one_command_without_root(self):
        (self.state / "installed").unlink()
        (self.state / "uid").write_text("1000\n")
        status, output, errors = self.launch("attune")
        self.assertEqual((status, output), (1, ""))
        self.assertIn(f"{PACKAGES} Debian packages are missing and installing them needs root\n"
                      "hint: run: sudo sh -c 'apt-get update && apt-get install -y", errors)
        self.assertNotIn("apt-get", self.calls())

    def test_offline_is_one_sentence_and_a_hint(self):
        (self.state / "installed").unlink()
        (self.state / "offline").write_text("")
        status, output, errors = self.launch("attune")
        self.assertEqual((status, output), (1, ""))
        self.assertIn("E: Unable to fetch some archives\n", errors)
        self.assertIn("attune: the Debian packages could not be installed: g++ cmake", errors)
        self.assertIn("hint: check the network", errors)

    def test_configure_failure_shows_what_cmake_said(self):
        (self.state / "bad_cmake").write_text("")
        status, output, errors = self.launch("attune")
        self.assertEqual((status, output), (1, ""))
        self.assertIn("CMake Error: no such thing\nattune: cmake could not configure", errors)

    def test_build_failure_shows_the_compilers_lines_and_stays(self):
        (self.state / "bad_source").write_text("")
        for _ in range(2):
            status, output, errors = self.launch("attune")
            self.assertEqual((status, output), (1, ""))
            self.assertIn("a.cpp:7: error: expected ';'\nattune: the build of attune failed\n", errors)
            self.assertNotIn("/usr/bin/c++", errors)
        (self.state / "bad_source").unlink()
        self.assertEqual(self.launch("attune")[0], 7)

    def test_a_second_launcher_waits_and_builds_nothing(self):
        os.mkfifo(self.state / "gate")
        first = self.start("attune")
        gate = open(self.state / "gate", "w")  # opens once ninja of the first one reads
        second = self.start("attune")
        self.assertEqual(second.stderr.readline(),
                         "attune: waiting for another build of this checkout to end\n")
        gate.write("go\n")
        gate.close()
        for process in (first, second):
            process.communicate(timeout=50)
            self.assertEqual(process.returncode, 7)
        self.assertEqual(self.calls().count("ninja"), 1)

    def test_test_fails_when_a_test_fails(self):
        status, output, _ = self.launch("test", "fast")
        self.assertEqual(status, 0, output)
        (self.state / "bad_test").write_text("")
        status, output, _ = self.launch("test", "fast")
        self.assertEqual(status, 1)
        self.assertTrue(output.splitlines()[-1].startswith("FAILED: 2 of 3 tests; "), output)

    def test_test_says_in_the_end_what_did_not_run(self):
        no_emulator = "/a/b_test.cpp:7&#x0A;there is no &quot;qemu&quot;; ./test arm installs it"
        for name, cases in [("arm_test_1", [no_emulator] * 2), ("arm_test_2", [no_emulator]),
                            ("cards_test", [no_emulator, "/a/c.cpp:9&#x0A;there is no card"])]:
            skipped = "".join(f'<skipped message="{why}"><![CDATA[]]></skipped>\n' for why in cases)
            (self.state / f"{name}.xml").write_text(f'<testsuites tests="{len(cases)}" failures="0">\n{skipped}')
        status, output, _ = self.launch("test", "fast")
        self.assertEqual(status, 0, output)
        counted, *rest = output.splitlines()[-3:]
        self.assertIn("5 cases in them, 0 failed, 5 skipped", counted)
        self.assertEqual(rest, ['not run: 4 of arm_test, cards_test: there is no "qemu"; ./test arm installs it',
                                "not run: 1 of cards_test: there is no card"])

    def busy_processes(self):
        """What was started to keep the machine busy, by what it writes."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:  # it has ended
                continue
            if any(str(self.checkout / "build/busy") in word for word in words):
                found.append(words)
        return found

    def wait_for(self, condition):
        end = time.monotonic() + 40
        while not condition():
            self.assertLess(time.monotonic(), end, self.busy_processes())
            time.sleep(0.01)

    def has_load(self):
        """The loops, and the files that are written at the moment."""
        loops = [words for words in self.busy_processes() if "dd" not in words]
        return len(loops) >= 5 and len(self.busy_processes()) > len(loops)

    def test_busy_runs_everything_several_times_beside_load(self):
        gates = [self.state / f"ctest_gate{number}" for number in (1, 2)]
        for path in gates:
            os.mkfifo(path)
        process = self.start("test", "busy", "--times", "2")
        for path in gates:
            with open(path, "w") as gate:  # opens once ctest reads
                self.wait_for(self.has_load)
                gate.write("go\n")
        output, errors = process.communicate(timeout=50)
        self.assertEqual(process.returncode, 0, output + errors)
        self.assertIn("busy: passed, 2 of 2 times", output)
        self.assertEqual(self.calls().count("ctest"), 2)
        self.assertEqual(self.busy_processes(), [])
        self.assertFalse((self.checkout / "build/busy").exists())

    def test_busy_fails_when_one_time_fails(self):
        (self.state / "bad_test").write_text("")
        status, output, _ = self.launch("test", "busy")
        self.assertEqual(status, 1)
        self.assertIn("busy: FAILED, 0 of 3 times", output)

    def test_load_ends_with_a_killed_launcher(self):
        os.mkfifo(self.state / "ctest_gate")
        process = self.start("test", "busy")
        with open(self.state / "ctest_gate", "w"):
            self.wait_for(self.has_load)
            process.kill()
            self.wait_for(lambda: not self.busy_processes())
        process.communicate(timeout=50)

    def test_test_refuses_unknown_suites_and_options(self):
        status, _, errors = self.launch("test", "fsat")
        self.assertEqual(status, 2)
        self.assertIn("test: unknown suite 'fsat'\nhint: ", errors)
        self.assertEqual(self.launch("test", "fast", "--traces", "3")[0], 2)
        self.assertEqual(self.launch("test", "property", "--traces", "-3")[0], 2)
        self.assertEqual(self.launch("test", "busy", "--times", "0")[0], 2)


if __name__ == "__main__":
    unittest.main()
