// What the programs of bench/ share: words of the command line, and how they end.
#pragma once

#include <fmt/format.h>

#include <cstdlib>

#include "base/result.h"

namespace attune {

struct Arguments {
  int count = 0;
  char** words = nullptr;

  // Word i; `otherwise` where it was left out.
  const char* text(int i, const char* otherwise) const { return count > i ? words[i] : otherwise; }
  int number(int i, int otherwise) const { return count > i ? std::atoi(words[i]) : otherwise; }
};

// The exit status of a program, after what went wrong was said.
inline int exit_status(const Status& status) {
  if (status.ok()) return 0;
  fmt::print(stderr, "{}\n{}\n", status.error().message, status.error().hint);
  return 1;
}

}  // namespace attune
