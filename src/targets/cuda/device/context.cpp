#include "targets/cuda/device/context.h"

#include <utility>

namespace attune::cuda {

Context::Context(std::shared_ptr<const Driver> driver, CuDevice device, CuContext context,
                 Card card)
    : driver_(std::move(driver)), device_(device), context_(context), card_(std::move(card)) {}

Context::~Context() { (void)driver_->context_release.function(device_); }

Result<std::shared_ptr<const Context>> Context::open(std::shared_ptr<const Driver> driver) {
  constexpr std::string_view kStarting = "starting CUDA";
  const Driver& call = *driver;
  ATTUNE_RETURN_IF_ERROR(call(kStarting, call.init, 0u));
  int count = 0;
  ATTUNE_RETURN_IF_ERROR(call(kStarting, call.device_count, &count));
  if (count < 1) return unsupported("a CUDA driver is here, but no card that it knows", kElsewhere);
  CuDevice device = 0;
  ATTUNE_RETURN_IF_ERROR(call(kStarting, call.device_get, &device, 0));
  ATTUNE_ASSIGN(Card card, read_card(call, device));
  CuContext context = nullptr;
  ATTUNE_RETURN_IF_ERROR(call(kStarting, call.context_retain, &context, device));
  return std::shared_ptr<const Context>(
      new Context(std::move(driver), device, context, std::move(card)));
}

Status Context::enter() const {
  return (*driver_)("choosing the card", driver_->context_set, context_);
}

}  // namespace attune::cuda
