// Memory that is mapped from a file ends the process (SIGBUS) when it is read after the file was
// cut short. While a guard watches a range, reading it then gives zeros instead, and was_cut() says
// so afterwards. The first guard installs a handler of SIGBUS for the process; signals about other
// memory go on to whoever handled them before.
#pragma once

#include <cstddef>
#include <cstdint>

namespace attune::runtime {

class CutGuard {
 public:
  CutGuard() = default;
  // Of whole pages. False when the process watches as many ranges already as it can.
  bool watch(void* begin, std::size_t bytes);

  CutGuard(CutGuard&& other) noexcept;
  CutGuard& operator=(CutGuard&& other) noexcept;
  CutGuard(const CutGuard&) = delete;
  CutGuard& operator=(const CutGuard&) = delete;
  // To be called before the range is unmapped.
  ~CutGuard();

  bool is_watching() const { return slot_ >= 0; }
  bool was_cut() const;

 private:
  int slot_ = -1;
};

}  // namespace attune::runtime
