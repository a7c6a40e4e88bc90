// A gate in a stream: what stands behind it begins when it is opened. So a launch and the events
// around it are all there before the first of them begins, and what is timed is the kernel alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/execution/device.h"
#include "targets/cuda/device/context.h"
#include "targets/cuda/device/pool.h"

namespace attune::cuda {

class Gate {
 public:
  // Nothing where there is no memory that both sides see.
  static std::optional<Gate> make(std::shared_ptr<const Context> context, Pool& pool);

  // False where the card cannot wait so; then nothing was asked for.
  bool close(CuStream stream);
  void open();

 private:
  Gate(std::shared_ptr<const Context> context, std::unique_ptr<runtime::DeviceMemory> memory,
       CuAddress seen_by_card)
      : context_(std::move(context)), memory_(std::move(memory)), seen_by_card_(seen_by_card) {}

  std::shared_ptr<const Context> context_;
  std::unique_ptr<runtime::DeviceMemory> memory_;  // how often it was opened
  CuAddress seen_by_card_ = 0;
  std::uint32_t closed_ = 0;  // so often
};

}  // namespace attune::cuda
