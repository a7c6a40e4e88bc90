// What kernels run on, as the executor sees it. A kind of device stands in src/targets/NAME/device;
// it says whether code may be loaded here and opens a Device. A Device holds code and memory, a
// Stream does work on it in order. Addresses in a device's own memory mean nothing to anybody else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/execution/thread_pool.h"
#include "runtime/format/plan.h"

namespace attune::runtime {

using KernelHandle = const void*;

// Code that is loaded; it stays while this lives.
class LoadedCode {
 public:
  virtual ~LoadedCode() = default;
  virtual Result<KernelHandle> kernel(const std::string& symbol) const = 0;
  // In how many ways each launch of a kernel may be asked for, all of which compute the same; what
  // each is, is the device's affair. Nothing where there is no choice.
  virtual std::vector<int> launch_ways(KernelHandle) const { return {}; }
  // From now on; recordings stay as they were.
  virtual Status choose_way(KernelHandle kernel, std::size_t launch, int way);
};

// A block of a device's own memory, aligned to 64 bytes. It ends when no stream has work on it.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual std::byte* address() const = 0;
};

// Bytes in one of the two memories.
struct Location {
  Space space = Space::Host;
  std::byte* address = nullptr;
};

// Launches and copies that a stream has noted, to be done again at once.
class Recording {
 public:
  virtual ~Recording() = default;
};

// Work in order. For one thread at a time; its device outlives it.
class Stream {
 public:
  virtual ~Stream() = default;
  // One address per argument, in the memory where kernels work. What a kernel finds wrong may show
  // in a later call.
  virtual Status launch(KernelHandle kernel, std::span<void* const> arguments) = 0;
  // At least one side is in the device's own memory. What goes to the host is there on return.
  virtual Status copy(const Location& to, const Location& from, std::size_t bytes) = 0;
  // Until all that was asked for is done.
  virtual Status wait() = 0;
  // The device's clock, in which its work is timed, when all that was asked for is done; from where
  // it counts is its own affair.
  virtual std::int64_t now_ns() const = 0;
  // Launches, waits, and says what the kernel took, without the way to the device.
  virtual Result<std::int64_t> launch_timed(KernelHandle kernel, std::span<void* const> arguments);

  // Work that comes again on the same addresses: between the two calls launches and copies are
  // noted, not done, and `replay` does all of them. Only where records() says so.
  virtual bool records() const { return false; }
  virtual Status begin_recording();
  // After an error of a launch or copy too, which ends the recording.
  virtual Result<std::unique_ptr<Recording>> end_recording();
  // What goes to the host is there after the next wait.
  virtual Status replay(const Recording& recording);
};

struct StreamOptions {
  ThreadPool* pool = nullptr;  // for kernels that run on cores of the host; outlives the stream
  void* workspace = nullptr;   // as much as kernels declare
};

// From any thread.
class Device {
 public:
  virtual ~Device() = default;
  // Where kernels find their buffers.
  virtual Space space() const = 0;
  // Of its own memory; zeroed.
  virtual Result<std::unique_ptr<DeviceMemory>> allocate(std::size_t bytes) = 0;
  // Memory of the host that the device reaches by itself, for copies that are recorded; zeroed. It
  // is read until the stream was waited for. Null: any memory is as good.
  virtual Result<std::unique_ptr<DeviceMemory>> allocate_host(std::size_t bytes);
  virtual Result<std::unique_ptr<LoadedCode>> load(std::span<const std::byte> object) = 0;
  virtual Result<std::unique_ptr<Stream>> open_stream(const StreamOptions& options) = 0;
  // Its clocks, temperature and the like at this moment, for reports; empty where nobody knows.
  virtual Result<std::string> condition() { return std::string(); }
};

struct DeviceKind {
  std::string_view name;  // of the kind of target
  // Why this machine cannot run such a plan, or why the code must not be loaded. Runs none of it.
  Status (*check)(const Plan& plan, std::span<const std::span<const std::byte>> objects);
  // The device that a target in text describes.
  Result<std::unique_ptr<Device>> (*open)(std::string_view target);
  // The object with other ways of launching in it, by the symbol of the kernel; null: it has none.
  using Ways = std::map<std::string, std::vector<int>, std::less<>>;
  Result<std::vector<std::byte>> (*with_ways)(std::span<const std::byte> object,
                                              const Ways& ways) = nullptr;
};
using DeviceKinds = std::span<const DeviceKind* const>;

// Those that are part of this library (src/targets/list.inc).
DeviceKinds devices();
// Unsupported when it is not among them.
Result<const DeviceKind*> find_device(DeviceKinds kinds, std::string_view name);

}  // namespace attune::runtime
