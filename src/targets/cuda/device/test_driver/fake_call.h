// How every call of the fake driver begins: it is counted, and comes to nothing where the card says
// so.
#pragma once

#include <mutex>

#include "targets/cuda/device/test_driver/fake_card.h"

#define FAKE extern "C" __attribute__((visibility("default")))

#define FAKE_CALL(name, needs_context)                      \
  attune::cuda::FakeCard& card = attune::cuda::fake_card(); \
  const std::lock_guard lock(card.mutex);                   \
  if (const attune::cuda::CuResult result = card.begin(name, needs_context); result) return result
