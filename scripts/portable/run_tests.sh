#!/bin/sh
# tests/run [--slow] [SUITE...]: the tests of this package, suite by suite, each in a process of its
# own; with --slow those that take minutes too. Names choose suites of tests/list.txt. Exits 1 when one
# failed.
here=$(cd "$(dirname "$0")/.." && pwd)
export ATTUNE_BUILT_PATHS="@BUILD@:$here:@CHECKOUT@:$here"
# What the tests of a checkout are told (cmake/layers.cmake): what they show depends on no measurement.
export ATTUNE_MACHINE=stated ATTUNE_FILE_SYSTEM=local
labels=fast
if [ "$1" = --slow ]; then
  labels='fast slow'
  shift
fi
passed=0 failed=''
while read -r label name; do
  if [ $# -gt 0 ]; then
    case " $* " in *" $name "*) ;; *) continue ;; esac
  else
    case " $labels " in *" $label "*) ;; *) continue ;; esac
  fi
  if "$here/bin/all_tests" --gtest_brief=1 --gtest_filter="$name.*:*/$name.*:$name/*" < /dev/null; then
    passed=$((passed + 1))
  else
    failed="$failed $name"
  fi
done < "$here/tests/list.txt"
if [ -n "$failed" ]; then
  echo "FAILED:$failed; $passed suites passed"
  exit 1
fi
if [ "$passed" = 0 ]; then
  echo "tests/run: no suite of tests/list.txt is called '$*'" >&2
  exit 2
fi
echo "passed: $passed suites"
