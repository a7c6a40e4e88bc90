#!/bin/sh
# tests/run [--slow] [NAME...]: the test programs of this package, one after the other; with --slow
# those that take minutes too. Names choose programs of tests/list.txt. Exits 1 when one failed.
here=$(cd "$(dirname "$0")/.." && pwd)
export ATTUNE_BUILT_PATHS="@BUILD@:$here:@CHECKOUT@:$here"
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
  if "$here/bin/$name" --gtest_brief=1; then
    passed=$((passed + 1))
  else
    failed="$failed $name"
  fi
done < "$here/tests/list.txt"
if [ -n "$failed" ]; then
  echo "FAILED:$failed; $passed programs passed"
  exit 1
fi
if [ "$passed" = 0 ]; then
  echo "tests/run: no program of tests/list.txt is called '$*'" >&2
  exit 2
fi
echo "passed: $passed programs"
