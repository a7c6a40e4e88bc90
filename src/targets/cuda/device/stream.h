// Work on a card in order: launches, copies, waiting, the card's clock, and recordings, which are
// CUDA graphs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/execution/device.h"
#include "targets/cuda/device/code.h"
#include "targets/cuda/device/context.h"
#include "targets/cuda/device/pool.h"

namespace attune::cuda {

// What the streams of a device have in common.
struct StreamResources {
  std::shared_ptr<const Context> context;
  std::shared_ptr<Pool> pool;
  // The most scratch memory that a loaded kernel asks for.
  std::shared_ptr<const std::atomic<std::size_t>> scratch_bytes;
};

Result<std::unique_ptr<runtime::Stream>> open_stream(StreamResources resources);

}  // namespace attune::cuda
