// The inside of a Session: memory and addresses of one run. Binding the caller's tensors is in
// session.cpp, running instructions in session_run.cpp.
#pragma once

#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/execution/model.h"
#include "runtime/host/host.h"
#include "runtime/memory/memory.h"

namespace attune::runtime {

// Instructions of a block, up to `end`, that a stream can record: they ask the host for nothing,
// and their addresses are the same in every run. The first run does them one by one, the second
// records them.
struct Stretch {
  struct Take {
    bool has_run = false, refused = false;
    std::unique_ptr<Recording> recording;
  };
  std::size_t end = 0;
  std::int64_t calls = 0;       // of kernels
  bool downloads = false;       // something goes to the host
  std::array<Take, 2> takes{};  // as they are, and kernels only
};

// Runs of whole plans that were recorded as one piece of work.
struct Row {
  std::vector<const void*> sessions = {};  // that run one after the other
  std::int64_t runs = 0;                   // of all of them
  std::unique_ptr<Recording> recording;    // null: they cannot be
};

struct Session::State {
  std::shared_ptr<const Model> model;
  ThreadPool* pool = nullptr;
  Memory arena;
  std::unique_ptr<DeviceMemory> device_arena;  // where the device has memory of its own
  Memory workspace;
  // Copies of all inputs and outputs, where the device reaches certain memory of the host by
  // itself.
  std::vector<std::unique_ptr<DeviceMemory>> input_staging, output_staging;
  std::unique_ptr<Stream> stream;
  std::vector<std::byte*> addresses;      // of the plan's buffers
  std::vector<std::byte*> input_data;     // what the buffers of inputs point to in this run
  std::vector<std::byte*> output_data;    // the same for outputs
  std::vector<Memory> input_copies;       // of inputs that cannot be used in place
  std::vector<Memory> output_copies;      // of outputs that cannot be written in place
  std::vector<std::size_t> input_bytes;   // of each input at its largest
  std::vector<std::size_t> output_bytes;  // of each output at its largest
  Memory extents;                         // i64
  std::vector<Shape> output_shapes;       // of the last run
  std::vector<void*> arguments;           // of the kernel being called
  std::vector<HostTensor> host_inputs;    // of the host operator being called
  std::vector<HostTensor> host_outputs;
  Profile* profile = nullptr;
  bool kernels_only = false;  // nothing moves between host and device
  std::unordered_map<const void*, std::size_t> profile_index;  // of each call, once asked for
  std::unordered_map<const Instruction*, Stretch> stretches;   // by their first; see records()
  Row row;                                                     // kernels only, as last asked for

  const Plan& plan() const { return model->plan(); }
  std::int64_t* extent_table() const { return static_cast<std::int64_t*>(extents.data()); }

  Status allocate();
  Status stage_interface();
  std::byte* start_of(const Buffer& buffer) const;
  Status bind(std::span<const InputView> inputs, std::span<const OutputView> outputs);
  Status bind_input(std::size_t index, const InputView& view);
  Status bind_output(std::size_t index, const OutputView& view);
  void resolve_interface();
  Status finish(std::span<const OutputView> outputs);
  void start_profile(Profile* wanted);
  void list_calls(const Block& block, std::vector<LayerTime>& layers);

  std::int64_t bytes_of(BufferId id) const {
    return plan().buffers[static_cast<std::size_t>(id)].bytes;
  }
  bool read_flag(BufferId id) const {
    return addresses[static_cast<std::size_t>(id)][0] != std::byte{0};
  }
  Result<Shape> actual_shape(const std::vector<Dim>& dims) const;
  Status verify_constant(BufferId id) const;
  Status run(const Block& block, std::int64_t iteration);
  Status run(const Instruction& instruction, std::int64_t iteration);
  Status run(std::span<const Instruction> instructions, std::int64_t iteration);
  Stretch* stretch_at(const Instruction& instruction);
  Status run(Stretch& stretch, std::span<const Instruction> instructions, std::int64_t iteration);
  // In timing.cpp: kernels alone, one by one on a stream that may be another's, or as they run
  // here.
  Status launch_kernels(std::unique_ptr<Stream>& on);
  Status run_kernels();
  std::int64_t recordable_calls();
  Status run(const KernelCall& call);
  Status run(const HostCall& call);
  Status run(const Copy& copy, std::int64_t iteration);
  Status move(const Location& to, const Location& from, std::size_t bytes);
  Status run(const Loop& loop);
  void exchange(const Loop& loop);
  Status run(const If& branch, std::int64_t iteration);
  Status keep_extents(const HostCall& call);
  Status timed(const HostCall& call);
  void add_time(const void* call, std::int64_t ns);
};

}  // namespace attune::runtime
