// Work in a child process: generated code that crashes takes only the child with it, and becomes an
// error like any other.
#pragma once

#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace attune {

using Bytes = std::vector<char>;

// Runs `work` in a fork of this process and hands back the bytes or the error it returns. The
// caller must have no other threads. `what` names the work in the error after a crash.
Result<Bytes> run_isolated(const std::string& what, const std::function<Result<Bytes>()>& work);

// Many pieces of work, each in a child of its own, several at a time. What a child says on standard
// error before it crashes becomes part of its error.
struct IsolatedWork {
  std::size_t count = 0;
  std::size_t at_once = 1;
  double timeout_seconds = 60;                                // of one child, from its start
  std::function<Result<Bytes>(std::size_t index)> work = {};  // in the child
  // In this process, in the order of the index; an error ends all of it.
  std::function<Status(std::size_t index, const Result<Bytes>& answer)> done = {};
};
Status run_isolated(const IsolatedWork& all);

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

}  // namespace attune
