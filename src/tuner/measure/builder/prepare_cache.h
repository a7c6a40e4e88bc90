// Compiled prepare kernels by the text of their loops: candidates that lay constants out alike
// share one. What was not asked for longest goes when there are too many, so that a search may go
// on for as long as it likes. Safe to use from several threads.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "tuner/measure/runner.h"

namespace attune::builder {

class PrepareCache {
 public:
  using Code = std::shared_ptr<const measure::KernelCode>;

  // Of the machine code that is kept, about; the newest is kept in any case.
  explicit PrepareCache(std::size_t most_bytes = std::size_t{16} << 20) : most_bytes_(most_bytes) {}

  // Null when it is not there (any more).
  Code find(std::uint64_t id);
  // What is kept under its id: the same code, or what another thread was faster with.
  Code add(Code code);
  std::size_t bytes() const;

 private:
  Code touch(std::list<Code>::iterator place);

  const std::size_t most_bytes_;
  mutable std::mutex mutex_;
  std::list<Code> codes_;  // the last one asked for first
  std::unordered_map<std::uint64_t, std::list<Code>::iterator> by_id_;
  std::size_t bytes_ = 0;
};

}  // namespace attune::builder
