#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace attune {

void check_failed(const char* file, int line, const char* condition, const std::string& why) {
  std::fprintf(stderr, "attune: internal error at %s:%d: %s (%s)\n", file, line, why.c_str(),
               condition);
  std::fflush(stderr);
  std::abort();
}

}  // namespace attune
