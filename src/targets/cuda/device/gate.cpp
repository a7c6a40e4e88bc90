#include "targets/cuda/device/gate.h"

#include <atomic>
#include <utility>

namespace attune::cuda {

std::optional<Gate> Gate::make(std::shared_ptr<const Context> context, Pool& pool) {
  auto memory = pool.allocate_host(sizeof(std::uint32_t));
  if (!memory.ok()) return std::nullopt;
  CuAddress address = 0;
  const CuResult result =
      context->driver().host_address.function(&address, (*memory)->address(), 0);
  if (result != kSuccess) return std::nullopt;
  return Gate(std::move(context), std::move(memory).value(), address);
}

bool Gate::close(CuStream stream) {
  const CuResult result = context_->driver().stream_wait_value.function(
      stream, seen_by_card_, closed_ + 1, kWaitForAtLeast);
  if (result != kSuccess) return false;
  ++closed_;
  return true;
}

void Gate::open() {
  auto* const opened = reinterpret_cast<std::uint32_t*>(memory_->address());
  std::atomic_ref(*opened).store(closed_, std::memory_order_release);
}

}  // namespace attune::cuda
