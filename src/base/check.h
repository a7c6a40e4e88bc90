// CHECK(cond, why): an invariant of ours. When it fails the process says where and why and aborts;
// it is never the answer to bad input (that is Result).
#pragma once

#include <string>

namespace attune {

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const std::string& why);

}  // namespace attune

#define CHECK(condition, why)                                                        \
  do {                                                                               \
    if (!(condition)) ::attune::check_failed(__FILE__, __LINE__, #condition, (why)); \
  } while (false)
