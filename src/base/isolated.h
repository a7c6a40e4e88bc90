// Work in a child process: generated code that crashes takes only the child with it, and becomes an
// error like any other.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace attune {

using Bytes = std::vector<char>;

// What one child may take.
struct IsolationLimits {
  double seconds = 3600;  // from its start
  // Addresses beyond what this process has; negative: what the machine has free.
  std::int64_t memory_bytes = -1;
  // False where a driver reserves more addresses than there is memory; then only the control group
  // limits it.
  bool limits_addresses = true;
  // More ends it: the process that asks keeps what it says. Whoever wants more adds it.
  std::size_t answer_bytes = std::size_t{64} << 20;
};

// Runs `work` in a fork of this process and hands back the bytes or the error it returns. The
// caller must have no other threads. `what` names the work in the error after a crash. Work that
// calls foreign code enters a cage before (base/cage/cage.h).
Result<Bytes> run_isolated(const std::string& what, const std::function<Result<Bytes>()>& work,
                           const IsolationLimits& limits = {});

// Many pieces of work, each in a child of its own, several at a time. What a child says on standard
// error before it crashes becomes part of its error.
struct IsolatedWork {
  std::size_t count = 0;
  std::size_t at_once = 1;
  IsolationLimits limits = {.seconds = 60};                   // of one child
  std::function<Result<Bytes>(std::size_t index)> work = {};  // in the child
  // In this process, in the order of the index; an error ends all of it.
  std::function<Status(std::size_t index, const Result<Bytes>& answer)> done = {};
};
Status run_isolated(const IsolatedWork& all);

// What an AnswerReader reads.
template <typename T>
void append_value(Bytes& bytes, const T& value) {
  const std::size_t end = bytes.size();
  bytes.resize(end + sizeof(T));
  std::memcpy(bytes.data() + end, &value, sizeof(T));
}
inline void append_text(Bytes& bytes, std::string_view text) {
  append_value(bytes, text.size());
  bytes.insert(bytes.end(), text.begin(), text.end());
}

}  // namespace attune
