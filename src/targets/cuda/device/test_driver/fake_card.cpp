#include "targets/cuda/device/test_driver/fake_card.h"

#include <unistd.h>

#include <array>
#include <utility>

namespace attune::cuda {
namespace {

constexpr CuResult kInvalidValue = 1, kInvalidContext = 201, kCaptureUnsupported = 900;

thread_local const CuContextState* current_context = nullptr;

float* floats(CuAddress address) { return reinterpret_cast<float*>(address); }

void double_all(const FakeLaunch& launch) {
  for (std::int64_t i = 0; i < launch.threads; ++i) {
    floats(launch.arguments[1])[i] = 2 * floats(launch.arguments[0])[i];
  }
}

void add_all(const FakeLaunch& launch) {
  for (std::int64_t i = 0; i < launch.threads; ++i) {
    floats(launch.arguments[2])[i] =
        floats(launch.arguments[0])[i] + floats(launch.arguments[1])[i];
  }
}

}  // namespace

FakeCard& fake_card() {
  static FakeCard card;
  return card;
}

CuFunctionState* fake_function(const std::string& name) {
  static std::array<CuFunctionState, 5> all = {{
      {"double_all", 2, double_all},
      {"add_all", 3, add_all},
      {"fault", 1, nullptr},
      {"double_waiting", 2, double_all, true},
      {"add_waiting", 3, add_all, true},
  }};
  for (CuFunctionState& function : all) {
    if (name == function.name) return &function;
  }
  return nullptr;
}

void set_current(const CuContextState* context) { current_context = context; }

CuResult FakeCard::begin(const char* call, bool needs_context) {
  ++calls[call];
  if (failing_call == call && --failing_in == 0) {
    failing_call.clear();
    return failure;
  }
  if (needs_context && current_context == nullptr) return kInvalidContext;
  if (started_in != 0 && started_in != ::getpid()) return kNotInitialized;
  return needs_context ? fault : kSuccess;
}

bool FakeCard::is_own(CuAddress address, std::size_t bytes) const {
  auto next = blocks.upper_bound(address);
  if (next == blocks.begin()) return false;
  const auto& [start, size] = *--next;
  return address - start <= size && bytes <= size - (address - start);
}

bool FakeCard::is_pinned(const void* address) const {
  auto next = pinned_bytes.upper_bound(address);
  if (next == pinned_bytes.begin()) return false;
  const auto& [start, size] = *--next;
  return static_cast<const std::byte*>(address) < static_cast<const std::byte*>(start) + size;
}

CuResult FakeCard::ask(CuStreamState* stream, FakeWork work) {
  (stream->capturing ? stream->captured : stream->pending).push_back(std::move(work));
  stream->ends_in_launch = false;
  return kSuccess;
}

CuResult FakeCard::ask_launch(CuStreamState* stream, FakeWork work, bool early, bool waits) {
  if (early && !stream->ends_in_launch) return kInvalidValue;
  std::vector<FakeWork>& list = stream->capturing ? stream->captured : stream->pending;
  const bool overtakes = early && !waits && !list.empty();
  list.insert(list.end() - (overtakes ? 1 : 0), std::move(work));
  stream->ends_in_launch = true;
  return kSuccess;
}

CuResult FakeCard::finish(CuStreamState* stream) {
  if (stream->capturing) return kCaptureUnsupported;
  const std::vector<FakeWork> all = std::exchange(stream->pending, {});
  for (const FakeWork& work : all) {
    const CuResult result = work();
    if (result == kSuccess) continue;
    fault = result;
    return result;
  }
  return kSuccess;
}

}  // namespace attune::cuda
