// CUDA started in this process on its first card, shared by all that is made there: code, memory
// and streams keep it alive.
#pragma once

#include <memory>
#include <mutex>

#include "base/result.h"
#include "targets/cuda/device/card.h"
#include "targets/cuda/device/driver.h"

namespace attune::cuda {

class Context {
 public:
  // Which card is the first is the driver's affair ($CUDA_VISIBLE_DEVICES).
  static Result<std::shared_ptr<const Context>> open(std::shared_ptr<const Driver> driver);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Driver& driver() const { return *driver_; }
  const Card& card() const { return card_; }
  CuDevice device() const { return device_; }
  // Makes it the one that the calling thread works with; to be called before all else.
  Status enter() const;
  // Held by those who make calls that may wait for all that the card does, and by those who let it
  // wait for the host: together they would wait for each other.
  std::unique_lock<std::mutex> alone() const { return std::unique_lock(mutex_); }

 private:
  Context(std::shared_ptr<const Driver> driver, CuDevice device, CuContext context, Card card);

  const std::shared_ptr<const Driver> driver_;
  const CuDevice device_;
  const CuContext context_;
  const Card card_;
  mutable std::mutex mutex_;
};

}  // namespace attune::cuda
