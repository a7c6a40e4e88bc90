#!/usr/bin/env bash
# Checks that every C++ file is formatted by .clang-format; `--fix` formats them. Versions of
# clang-format disagree, so with another than 14 (Debian 12) the check is skipped (status 77).
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
if ! clang-format --version | grep -q 'version 14\.'; then
  echo "format: skipped, it needs clang-format 14 and here is: $(clang-format --version)"
  exit 77
fi
mapfile -t files < <(find src tests bench examples \( -name '*.h' -o -name '*.cpp' \) 2> /dev/null | sort)
if [ "${1-}" = --fix ]; then
  clang-format -i "${files[@]}"
  exit
fi
# One line per file that differs, whatever the number of places.
wrong=$(printf '%s\n' "${files[@]}" | xargs -P 2 -n 20 clang-format --dry-run 2>&1 |
  grep -oE '^[^ :]+:[0-9]+' | sort -t: -k1,1 -u)
if [ -n "$wrong" ]; then
  printf '%s\n' "$wrong" "format: not as .clang-format wants it; run scripts/check_format.sh --fix"
  exit 1
fi
echo "format: ${#files[@]} files"
