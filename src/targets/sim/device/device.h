// The simulated device: memory of its own that the host reaches by transfers, kernels in text form
// that the interpreter of launches runs, and a clock that counts cycles. A kernel in which
// something is found wrong, such as a race, is an error that says what and where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/ir/stmt.h"
#include "targets/sim/facts/machine.h"

namespace attune::sim {

// Names a piece of the device's memory; 0 names none.
using Handle = std::int64_t;

class Device {
 public:
  explicit Device(const Machine& machine) : machine_(machine) {}

  Result<Handle> allocate(std::int64_t bytes);
  Status free(Handle memory);
  // Between the host and the device; the clock goes on by the bytes that move.
  Status write(Handle memory, std::int64_t offset, std::span<const std::byte> bytes);
  Status read(Handle memory, std::int64_t offset, std::span<std::byte> bytes);

  // Kernels as print.h writes them, one after the other; they stay until the device goes.
  Status load(std::string_view code);
  // Runs a kernel on one piece of memory per parameter.
  Status launch(const std::string& kernel, std::span<const Handle> parameters);

  // Since the device was made.
  std::int64_t cycles() const { return cycles_; }
  double microseconds() const {
    return static_cast<double>(cycles_) / static_cast<double>(machine_.clock_mhz);
  }

 private:
  Result<std::vector<std::byte>*> piece(Handle memory, std::int64_t offset, std::int64_t bytes);

  Machine machine_;
  std::int64_t cycles_ = 0;
  Handle next_ = 1;
  std::int64_t in_use_ = 0;  // bytes
  std::map<Handle, std::vector<std::byte>> memory_;
  std::map<std::string, ir::Kernel> kernels_;
};

}  // namespace attune::sim
