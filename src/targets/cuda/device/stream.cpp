#include "targets/cuda/device/stream.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "targets/cuda/device/gate.h"
#include "targets/cuda/device/handles.h"

namespace attune::cuda {
namespace {

using runtime::Location;
using runtime::Space;
using Memory = std::unique_ptr<runtime::DeviceMemory>;

constexpr std::string_view kWaiting = "waiting for the card";

CuAddress address_of(const void* pointer) { return reinterpret_cast<CuAddress>(pointer); }

// A stretch of work as a graph.
class Graph final : public runtime::Recording {
 public:
  explicit Graph(GraphHandle handle) : handle_(std::move(handle)) {}
  CuGraphExec get() const { return handle_.get(); }

 private:
  GraphHandle handle_;
};

class Stream final : public runtime::Stream {
 public:
  Stream(StreamResources resources, StreamHandle stream, std::array<EventHandle, 4> events,
         std::optional<Gate> gate)
      : shared_(std::move(resources)),
        call_(shared_.context->driver()),
        stream_(std::move(stream)),
        before_(std::move(events[0])),
        now_(std::move(events[1])),
        begin_(std::move(events[2])),
        end_(std::move(events[3])),
        gate_(std::move(gate)) {}

  // What it works in outlives the work.
  ~Stream() override {
    if (shared_.context->enter().ok()) (void)call_.stream_wait.function(stream_.get());
  }

  Status launch(runtime::KernelHandle handle, std::span<void* const> arguments) override {
    ATTUNE_RETURN_IF_ERROR(shared_.context->enter());
    const auto& kernel = *static_cast<const LoadedKernel*>(handle);
    ATTUNE_RETURN_IF_ERROR(prepare(kernel, arguments.size()));
    return enqueue(kernel, arguments);
  }

  Result<std::int64_t> launch_timed(runtime::KernelHandle handle,
                                    std::span<void* const> arguments) override {
    ATTUNE_RETURN_IF_ERROR(shared_.context->enter());
    const auto& kernel = *static_cast<const LoadedKernel*>(handle);
    ATTUNE_RETURN_IF_ERROR(prepare(kernel, arguments.size()));
    constexpr std::string_view kTiming = "timing a kernel";
    // A first launch may wait for all that the card does, and so for the gate itself.
    {
      const auto alone = shared_.context->alone();
      const bool gated = gate_ && kernel.launched && gate_->close(stream_.get());
      makes_room_ = false;
      Status asked = call_(kTiming, call_.event_record, begin_.get(), stream_.get());
      if (asked.ok()) asked = enqueue(kernel, arguments);
      makes_room_ = false;
      if (asked.ok()) asked = call_(kTiming, call_.event_record, end_.get(), stream_.get());
      if (gated) gate_->open();
      ATTUNE_RETURN_IF_ERROR(asked);
    }
    ATTUNE_RETURN_IF_ERROR(call_(kTiming, call_.event_wait, end_.get()));
    float milliseconds = 0;
    ATTUNE_RETURN_IF_ERROR(
        call_(kTiming, call_.event_elapsed, &milliseconds, begin_.get(), end_.get()));
    return static_cast<std::int64_t>(double{milliseconds} * 1e6);
  }

  Status copy(const Location& to, const Location& from, std::size_t bytes) override {
    if (bytes == 0) return {};
    makes_room_ = false;
    ATTUNE_RETURN_IF_ERROR(shared_.context->enter());
    if (to.space == Space::Host) return copy_to_host(to.address, from.address, bytes);
    if (from.space == Space::Device) return copy_within(to.address, from.address, bytes);
    return call_("copying to the card", call_.copy_to_device, address_of(to.address),
                 static_cast<const void*>(from.address), bytes, stream_.get());
  }

  Status wait() override {
    ATTUNE_RETURN_IF_ERROR(shared_.context->enter());
    return call_(kWaiting, call_.stream_wait, stream_.get());
  }

  // Time is added up from one look to the next: the driver tells it in single precision. Where
  // something went wrong it stands still; the next call says what it was.
  std::int64_t now_ns() const override {
    makes_room_ = false;
    float milliseconds = 0;
    const bool told =
        shared_.context->enter().ok() &&
        call_.event_record.function(now_.get(), stream_.get()) == kSuccess &&
        call_.event_wait.function(now_.get()) == kSuccess &&
        call_.event_elapsed.function(&milliseconds, before_.get(), now_.get()) == kSuccess;
    if (!told) return static_cast<std::int64_t>(passed_ns_);
    std::swap(before_, now_);
    passed_ns_ += double{milliseconds} * 1e6;
    return static_cast<std::int64_t>(passed_ns_);
  }

  bool records() const override { return true; }
  Status begin_recording() override;
  Result<std::unique_ptr<runtime::Recording>> end_recording() override;
  Status replay(const runtime::Recording& recording) override {
    ATTUNE_RETURN_IF_ERROR(shared_.context->enter());
    makes_room_ = false;
    return call_("launching a graph", call_.graph_launch,
                 static_cast<const Graph&>(recording).get(), stream_.get());
  }

 private:
  // Scratch memory before anything is asked for.
  Status prepare(const LoadedKernel& kernel, std::size_t arguments) {
    if (arguments != kernel.parameters) {
      return invalid("kernel '" + kernel.symbol + "' takes " + std::to_string(kernel.parameters) +
                     " buffers, " + std::to_string(arguments) + " were given");
    }
    if (kernel.scratch_bytes <= scratch_bytes_) return {};
    return reserve(std::max(kernel.scratch_bytes, shared_.scratch_bytes->load()));
  }
  // What there was stays: recordings know its address, and work may still use it.
  Status reserve(std::size_t bytes) {
    ATTUNE_ASSIGN(Memory memory, shared_.pool->allocate(bytes));
    scratch_.push_back(std::move(memory));
    scratch_bytes_ = bytes;
    return {};
  }

  Status enqueue(const LoadedKernel& kernel, std::span<void* const> arguments) {
    for (const LoadedLaunch& launch : kernel.launches) {
      addresses_.clear();
      for (const Argument& argument : launch.arguments) {
        const auto at = static_cast<std::size_t>(argument.at);
        addresses_.push_back(
            address_of(argument.scratch ? scratch_.back()->address() + at : arguments[at]));
      }
      ATTUNE_RETURN_IF_ERROR(enqueue(launch, kernel));
    }
    kernel.launched.store(true, std::memory_order_relaxed);
    return {};
  }

  // What is in addresses_ goes along. It begins before the work in front of it has ended only where
  // that is a launch that makes room, and where it waits by itself.
  Status enqueue(const LoadedLaunch& launch, const LoadedKernel& kernel) {
    pointers_.clear();
    for (CuAddress& address : addresses_) pointers_.push_back(&address);
    auto overlap = static_cast<int>(launch.overlap);
    if (launch.waits) pointers_.push_back(&overlap);
    const auto& [gx, gy, gz] = launch.grid;
    const auto& [bx, by, bz] = launch.block;
    const bool early = makes_room_ && launch.waits;
    CuResult result = kSuccess;
    if (early) {
      CuLaunchAttribute attribute{.id = kMayBeginEarly, .value = {1}};
      const CuLaunch asked{{gx, gy, gz},  {bx, by, bz}, launch.asked_bytes,
                           stream_.get(), &attribute,   1};
      result = call_.launch_with.function(&asked, launch.function, pointers_.data(), nullptr);
    } else {
      result = call_.launch.function(launch.function, gx, gy, gz, bx, by, bz, launch.asked_bytes,
                                     stream_.get(), pointers_.data(), nullptr);
    }
    makes_room_ = result == kSuccess && launch.waits && launch.overlap != Overlap::None;
    if (result == kSuccess) return {};
    return call_.error_of(early ? call_.launch_with.symbol : call_.launch.symbol, result,
                          "kernel '" + kernel.symbol + "'");
  }

  Status copy_to_host(std::byte* to, const std::byte* from, std::size_t bytes) {
    ATTUNE_RETURN_IF_ERROR(call_("copying from the card", call_.copy_to_host,
                                 static_cast<void*>(to), address_of(from), bytes, stream_.get()));
    return recording_ ? Status() : call_(kWaiting, call_.stream_wait, stream_.get());
  }

  // Ranges that overlap go by way of scratch memory, which nobody else uses meanwhile.
  Status copy_within(std::byte* to, const std::byte* from, std::size_t bytes) {
    constexpr std::string_view kCopying = "copying on the card";
    CuAddress source = address_of(from);
    const CuAddress goal = address_of(to);
    if (goal == source) return {};
    if ((goal < source ? source - goal : goal - source) < bytes) {
      if (scratch_bytes_ < bytes) ATTUNE_RETURN_IF_ERROR(reserve(bytes));
      const CuAddress between = address_of(scratch_.back()->address());
      ATTUNE_RETURN_IF_ERROR(
          call_(kCopying, call_.copy_within, between, source, bytes, stream_.get()));
      source = between;
    }
    return call_(kCopying, call_.copy_within, goal, source, bytes, stream_.get());
  }

  const StreamResources shared_;
  const Driver& call_;
  std::vector<Memory> scratch_;  // the last is used
  std::size_t scratch_bytes_ = 0;
  StreamHandle stream_;
  mutable EventHandle before_, now_;  // of the clock
  mutable double passed_ns_ = 0;
  EventHandle begin_, end_;  // of a timed launch
  std::optional<Gate> gate_;
  bool recording_ = false;
  mutable bool makes_room_ = false;  // what was asked for last is a launch that lets the next begin
  // Of the launch that is being asked for.
  std::vector<CuAddress> addresses_;
  std::vector<void*> pointers_;
};

Status Stream::begin_recording() {
  CHECK(!recording_, "one recording at a time");
  ATTUNE_RETURN_IF_ERROR(shared_.context->enter());
  ATTUNE_RETURN_IF_ERROR(
      call_("beginning a graph", call_.capture_begin, stream_.get(), kCaptureThisThread));
  recording_ = true;
  makes_room_ = false;
  return {};
}

Result<std::unique_ptr<runtime::Recording>> Stream::end_recording() {
  constexpr std::string_view kMaking = "making a graph";
  CHECK(recording_, "a recording was begun");
  recording_ = false;
  makes_room_ = false;
  ATTUNE_RETURN_IF_ERROR(shared_.context->enter());
  CuGraph graph = nullptr;
  ATTUNE_RETURN_IF_ERROR(call_(kMaking, call_.capture_end, stream_.get(), &graph));
  CuGraphExec made = nullptr;
  {
    const auto alone = shared_.context->alone();
    const Status instantiated = call_(kMaking, call_.graph_instantiate, &made, graph, 0ull);
    (void)call_.graph_destroy.function(graph);
    ATTUNE_RETURN_IF_ERROR(instantiated);
  }
  auto recording = std::make_unique<Graph>(GraphHandle(shared_.context, made));
  ATTUNE_RETURN_IF_ERROR(call_(kMaking, call_.graph_upload, made, stream_.get()));
  return std::unique_ptr<runtime::Recording>(std::move(recording));
}

}  // namespace

Result<std::unique_ptr<runtime::Stream>> open_stream(StreamResources resources) {
  ATTUNE_RETURN_IF_ERROR(resources.context->enter());
  const Driver& call = resources.context->driver();
  CuStream made = nullptr;
  ATTUNE_RETURN_IF_ERROR(call("making a stream", call.stream_create, &made, kStreamNonBlocking));
  StreamHandle stream(resources.context, made);
  std::array<EventHandle, 4> events;
  for (EventHandle& event : events) {
    CuEvent one = nullptr;
    ATTUNE_RETURN_IF_ERROR(call("making an event", call.event_create, &one, 0u));
    event = EventHandle(resources.context, one);
  }
  // From here the clock counts.
  ATTUNE_RETURN_IF_ERROR(
      call("starting the clock", call.event_record, events[0].get(), stream.get()));
  ATTUNE_RETURN_IF_ERROR(call("starting the clock", call.event_wait, events[0].get()));
  std::optional<Gate> gate = Gate::make(resources.context, *resources.pool);
  return std::unique_ptr<runtime::Stream>(
      new Stream(std::move(resources), std::move(stream), std::move(events), std::move(gate)));
}

}  // namespace attune::cuda
