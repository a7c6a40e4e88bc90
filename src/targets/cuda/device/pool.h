// Memory of a card. Blocks that are given back are kept for the next ones of about their size:
// asking the driver costs more than most kernels, and giving back to it waits for all work.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "base/result.h"
#include "runtime/execution/device.h"
#include "targets/cuda/device/context.h"

namespace attune::cuda {

struct PoolBlock {
  CuAddress address = 0;
  std::size_t bytes = 0;
};

// From any thread.
class Pool : public std::enable_shared_from_this<Pool> {
 public:
  static Result<std::shared_ptr<Pool>> open(std::shared_ptr<const Context> context);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Zeroed, aligned to 256 bytes; it goes back to the pool when it ends, by when no work uses it.
  Result<std::unique_ptr<runtime::DeviceMemory>> allocate(std::size_t bytes);
  // Of the host, where copies reach it without a detour; zeroed.
  Result<std::unique_ptr<runtime::DeviceMemory>> allocate_host(std::size_t bytes);

  void give_back(const PoolBlock& block);

 private:
  Pool(std::shared_ptr<const Context> context, CuStream stream)
      : context_(std::move(context)), stream_(stream) {}
  Result<PoolBlock> take(std::size_t bytes);
  Status clear(const PoolBlock& block);
  void free_all();

  const std::shared_ptr<const Context> context_;
  const CuStream stream_;  // that clears blocks
  std::mutex mutex_;
  std::multimap<std::size_t, CuAddress> free_;  // by bytes
};

}  // namespace attune::cuda
