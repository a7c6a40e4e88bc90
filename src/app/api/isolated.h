// Work in a child process: generated code that crashes takes only the child with it, and becomes an
// error like any other.
#pragma once

#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace attune::api {

using Bytes = std::vector<char>;

// Runs `work` in a fork of this process and hands back the bytes or the error it returns. The
// caller must have no other threads. `what` names the work in the error after a crash.
Result<Bytes> run_isolated(const std::string& what, const std::function<Result<Bytes>()>& work);

// The first bytes as a value, removed from them: what a child writes with append_value.
template <typename T>
T take_value(std::span<const char>& bytes) {
  CHECK(bytes.size() >= sizeof(T), "a child's answer is too short");
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  bytes = bytes.subspan(sizeof(T));
  return value;
}
template <typename T>
void append_value(Bytes& bytes, const T& value) {
  const char* first = reinterpret_cast<const char*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof(T));
}

}  // namespace attune::api
