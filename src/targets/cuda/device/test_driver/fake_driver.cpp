// The driver's interface on a fake card, as a shared library for tests: it stands where
// $ATTUNE_LIBCUDA says. Tests reach the card behind it by attune_new_fake_card().
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "targets/cuda/device/test_driver/fake_call.h"
#include "targets/cuda/device/test_driver/fake_card.h"

using namespace attune::cuda;

namespace {

constexpr CuResult kInvalidValue = 1, kNotFound = 500, kTimedOut = 909;
constexpr std::int64_t kLaunchNs = 1000, kCopyNs = 500;

// A copy whose sides on the card must be its own.
CuResult copy_later(FakeCard& card, CuStreamState* stream, void* to, const void* from,
                    std::size_t bytes, bool to_card, bool from_card) {
  return card.ask(stream, [&card, to, from, bytes, to_card, from_card] {
    const bool right = (!to_card || card.is_own(reinterpret_cast<CuAddress>(to), bytes)) &&
                       (!from_card || card.is_own(reinterpret_cast<CuAddress>(from), bytes));
    if (!right) return kInvalidValue;
    std::memmove(to, from, bytes);
    card.now_ns += kCopyNs;
    return kSuccess;
  });
}

std::int64_t threads_of(const CuLaunch& launch) {
  std::int64_t threads = 1;
  for (const unsigned extent : launch.grid) threads *= extent;
  for (const unsigned extent : launch.block) threads *= extent;
  return threads;
}

CuResult launch_later(FakeCard& card, const CuFunctionState* function, const CuLaunch& asked,
                      void** arguments) {
  if (asked.shared_bytes > static_cast<unsigned>(function->shared_bytes)) return kInvalidValue;
  card.last_shared_bytes = asked.shared_bytes;
  FakeLaunch launch{threads_of(asked)};
  for (std::size_t i = 0; i < function->arguments; ++i) {
    launch.arguments.push_back(*static_cast<CuAddress*>(arguments[i]));
  }
  const int overlap = function->waits ? *static_cast<int*>(arguments[function->arguments]) : 0;
  bool early = false;
  for (unsigned i = 0; i < asked.attribute_count; ++i) {
    early |= asked.attributes[i].id == kMayBeginEarly && asked.attributes[i].value[0] == 1;
  }
  const auto work = [&card, function, launch, early, overlap]() -> CuResult {
    for (const CuAddress address : launch.arguments) {
      const auto bytes = static_cast<std::size_t>(launch.threads) * sizeof(float);
      if (!card.is_own(address, bytes)) return kIllegalAddress;
    }
    if (function->run == nullptr) return kIllegalAddress;
    function->run(launch);
    card.launched.push_back(std::string(function->name) + (early ? " early" : "") + " " +
                            std::to_string(overlap));
    card.now_ns += kLaunchNs;
    return kSuccess;
  };
  return card.ask_launch(asked.stream, work, early, function->waits);
}

}  // namespace

// As new.
FAKE FakeCard* attune_new_fake_card() {
  FakeCard& card = fake_card();
  card.~FakeCard();
  return new (&card) FakeCard;
}

FAKE int cuInit(unsigned) {
  FAKE_CALL("cuInit", false);
  card.started_in = ::getpid();
  return card.cards > 0 ? kSuccess : kNoDevice;
}
FAKE int cuDriverGetVersion(int* version) {
  FAKE_CALL("cuDriverGetVersion", false);
  *version = card.version;
  return kSuccess;
}
FAKE int cuGetErrorName(CuResult result, const char** name) {
  *name = result == kOutOfMemory      ? "CUDA_ERROR_OUT_OF_MEMORY"
          : result == kIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : result == kNoDevice       ? "CUDA_ERROR_NO_DEVICE"
          : result == kInvalidImage   ? "CUDA_ERROR_INVALID_IMAGE"
                                      : "CUDA_ERROR_OF_TESTS";
  return kSuccess;
}
FAKE int cuGetErrorString(CuResult result, const char** text) {
  *text = result == kOutOfMemory ? "out of memory" : "what tests wanted";
  return kSuccess;
}

FAKE int cuDeviceGetCount(int* count) {
  FAKE_CALL("cuDeviceGetCount", false);
  *count = card.cards;
  return kSuccess;
}
FAKE int cuDeviceGet(CuDevice* device, int ordinal) {
  FAKE_CALL("cuDeviceGet", false);
  *device = ordinal;
  return kSuccess;
}
FAKE int cuDeviceGetName(char* name, int bytes, CuDevice) {
  FAKE_CALL("cuDeviceGetName", false);
  std::strncpy(name, card.name.c_str(), static_cast<std::size_t>(bytes));
  return kSuccess;
}
FAKE int cuDeviceGetAttribute(int* value, int attribute, CuDevice) {
  FAKE_CALL("cuDeviceGetAttribute", false);
  const std::pair<int, int> all[] = {{kClockKhz, 1'980'000},
                                     {kMultiprocessors, 132},
                                     {kMemoryClockKhz, 3'201'000},
                                     {kMemoryBusBits, 6144},
                                     {kL2Bytes, 60 << 20},
                                     {kMajor, card.major},
                                     {kMinor, card.minor},
                                     {kSharedBytesOfBlock, card.shared_bytes},
                                     {kSharedBytesOfMultiprocessor, card.resident_shared_bytes}};
  for (const auto& [name, known] : all) {
    if (name == attribute) *value = known;
  }
  return kSuccess;
}
FAKE int cuDeviceGetPCIBusId(char* text, int bytes, CuDevice) {
  FAKE_CALL("cuDeviceGetPCIBusId", false);
  std::strncpy(text, "0000:01:00.0", static_cast<std::size_t>(bytes));
  return kSuccess;
}
FAKE int cuDeviceTotalMem_v2(std::size_t* bytes, CuDevice) {
  FAKE_CALL("cuDeviceTotalMem", false);
  *bytes = card.memory_bytes;
  return kSuccess;
}

FAKE int cuDevicePrimaryCtxRetain(CuContext* context, CuDevice) {
  FAKE_CALL("cuDevicePrimaryCtxRetain", false);
  *context = &card.context;
  return kSuccess;
}
FAKE int cuDevicePrimaryCtxRelease_v2(CuDevice) {
  FAKE_CALL("cuDevicePrimaryCtxRelease", false);
  return kSuccess;
}
FAKE int cuCtxSetCurrent(CuContext context) {
  FAKE_CALL("cuCtxSetCurrent", false);
  set_current(context);
  return kSuccess;
}

FAKE int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  FAKE_CALL("cuMemGetInfo", true);
  *free = card.memory_bytes - card.bytes_in_use;
  *total = card.memory_bytes;
  return kSuccess;
}
FAKE int cuMemAlloc_v2(CuAddress* address, std::size_t bytes) {
  FAKE_CALL("cuMemAlloc", true);
  if (bytes > card.memory_bytes - card.bytes_in_use) return kOutOfMemory;
  void* const memory = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  std::memset(memory, 0xab, bytes);
  *address = reinterpret_cast<CuAddress>(memory);
  card.blocks.emplace(*address, bytes);
  card.bytes_in_use += bytes;
  return kSuccess;
}
FAKE int cuMemFree_v2(CuAddress address) {
  FAKE_CALL("cuMemFree", true);
  const auto found = card.blocks.find(address);
  if (found == card.blocks.end()) return kInvalidValue;
  card.bytes_in_use -= found->second;
  card.blocks.erase(found);
  std::free(reinterpret_cast<void*>(address));
  return kSuccess;
}
FAKE int cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  FAKE_CALL("cuMemHostAlloc", true);
  *address = std::malloc(bytes);
  card.pinned_bytes.emplace(*address, bytes);
  return kSuccess;
}
FAKE int cuMemFreeHost(void* address) {
  FAKE_CALL("cuMemFreeHost", true);
  card.pinned_bytes.erase(address);
  std::free(address);
  return kSuccess;
}
FAKE int cuMemHostGetDevicePointer_v2(CuAddress* address, void* host, unsigned) {
  FAKE_CALL("cuMemHostGetDevicePointer", true);
  *address = reinterpret_cast<CuAddress>(host);
  return kSuccess;
}
FAKE int cuMemsetD8Async(CuAddress address, unsigned char value, std::size_t bytes,
                         CuStream stream) {
  FAKE_CALL("cuMemsetD8Async", true);
  return card.ask(stream, [&card, address, value, bytes] {
    if (!card.is_own(address, bytes)) return kInvalidValue;
    std::memset(reinterpret_cast<void*>(address), value, bytes);
    return kSuccess;
  });
}
// What is not pinned is read at once, as by the driver's own staging; it cannot be captured.
FAKE int cuMemcpyHtoDAsync_v2(CuAddress to, const void* from, std::size_t bytes, CuStream stream) {
  FAKE_CALL("cuMemcpyHtoDAsync", true);
  auto* const goal = reinterpret_cast<void*>(to);
  if (card.is_pinned(from)) return copy_later(card, stream, goal, from, bytes, true, false);
  if (stream->capturing) return kInvalidValue;
  const auto* const first = static_cast<const char*>(from);
  return card.ask(stream, [&card, to, goal, staged = std::string(first, first + bytes)] {
    if (!card.is_own(to, staged.size())) return kInvalidValue;
    std::memcpy(goal, staged.data(), staged.size());
    card.now_ns += kCopyNs;
    return kSuccess;
  });
}
FAKE int cuMemcpyDtoHAsync_v2(void* to, CuAddress from, std::size_t bytes, CuStream stream) {
  FAKE_CALL("cuMemcpyDtoHAsync", true);
  if (stream->capturing && !card.is_pinned(to)) return kInvalidValue;
  return copy_later(card, stream, to, reinterpret_cast<const void*>(from), bytes, false, true);
}
FAKE int cuMemcpyDtoDAsync_v2(CuAddress to, CuAddress from, std::size_t bytes, CuStream stream) {
  FAKE_CALL("cuMemcpyDtoDAsync", true);
  const bool overlaps = to < from + bytes && from < to + bytes;
  if (overlaps) return kInvalidValue;
  return copy_later(card, stream, reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from),
                    bytes, true, true);
}

// Code is the text "fake code", or "fake ptx" that only the error log has words for.
FAKE int cuModuleLoadDataEx(CuModule* module, const void* image, unsigned options, int* names,
                            void** values) {
  FAKE_CALL("cuModuleLoadDataEx", true);
  if (std::strncmp(static_cast<const char*>(image), "fake", 4) != 0) {
    for (unsigned i = 0; i < options; ++i) {
      if (names[i] == kJitErrorLog) std::strcpy(static_cast<char*>(values[i]), "no fake code");
    }
    return kInvalidImage;
  }
  ++card.things;
  *module = new CuModuleState;
  return kSuccess;
}
FAKE int cuModuleUnload(CuModule module) {
  FAKE_CALL("cuModuleUnload", true);
  --card.things;
  delete module;
  return kSuccess;
}
FAKE int cuModuleGetFunction(CuFunction* function, CuModule, const char* name) {
  FAKE_CALL("cuModuleGetFunction", true);
  *function = fake_function(name);
  return *function == nullptr ? kNotFound : kSuccess;
}
FAKE int cuFuncSetAttribute(CuFunction function, int attribute, int value) {
  FAKE_CALL("cuFuncSetAttribute", true);
  if (attribute != kMostDynamicSharedBytes || value > card.shared_bytes) return kInvalidValue;
  function->shared_bytes = value;
  return kSuccess;
}
FAKE int cuFuncGetAttribute(int* value, int attribute, CuFunction) {
  FAKE_CALL("cuFuncGetAttribute", true);
  *value = 0;
  return attribute == kStaticSharedBytes ? kSuccess : kInvalidValue;
}
FAKE int cuLaunchKernel(CuFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CuStream stream, void** arguments, void**) {
  FAKE_CALL("cuLaunchKernel", true);
  return launch_later(card, function,
                      {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream},
                      arguments);
}
FAKE int cuLaunchKernelEx(const CuLaunch* launch, CuFunction function, void** arguments, void**) {
  FAKE_CALL("cuLaunchKernelEx", true);
  return launch_later(card, function, *launch, arguments);
}

FAKE int cuStreamCreate(CuStream* stream, unsigned) {
  FAKE_CALL("cuStreamCreate", true);
  ++card.things;
  *stream = new CuStreamState;
  return kSuccess;
}
FAKE int cuStreamDestroy_v2(CuStream stream) {
  FAKE_CALL("cuStreamDestroy", true);
  --card.things;
  delete stream;
  return kSuccess;
}
FAKE int cuStreamSynchronize(CuStream stream) {
  FAKE_CALL("cuStreamSynchronize", true);
  return card.finish(stream);
}
FAKE int cuStreamWaitValue32_v2(CuStream stream, CuAddress address, std::uint32_t value, unsigned) {
  FAKE_CALL("cuStreamWaitValue32", true);
  return card.ask(stream, [address, value] {
    const auto reached = *reinterpret_cast<volatile std::uint32_t*>(address);
    return static_cast<std::int32_t>(reached - value) >= 0 ? kSuccess : kTimedOut;
  });
}
