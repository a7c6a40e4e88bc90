// Things of the driver that are destroyed with their owner: streams, events and graphs.
#pragma once

#include <memory>
#include <utility>

#include "targets/cuda/device/context.h"

namespace attune::cuda {

// `kDestroy` is the call that ends such a thing.
template <typename Handle, Call<Handle> Driver::*kDestroy>
class Owned {
 public:
  Owned() = default;
  Owned(std::shared_ptr<const Context> context, Handle handle)
      : context_(std::move(context)), handle_(handle) {}
  Owned(Owned&& other) noexcept
      : context_(std::move(other.context_)), handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_ == nullptr || !context_->enter().ok()) return;
    const auto alone = context_->alone();
    (void)(context_->driver().*kDestroy).function(handle_);
  }

  Handle get() const { return handle_; }

 private:
  std::shared_ptr<const Context> context_;
  Handle handle_ = nullptr;
};

using StreamHandle = Owned<CuStream, &Driver::stream_destroy>;
using EventHandle = Owned<CuEvent, &Driver::event_destroy>;
using GraphHandle = Owned<CuGraphExec, &Driver::graph_exec_destroy>;

}  // namespace attune::cuda
