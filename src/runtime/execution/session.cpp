// Running a plan: addresses of buffers are looked up in one table, of which a run only changes the
// entries of inputs and outputs. The plan was validated when it was loaded; what remains to check
// is what depends on data.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/match.h"
#include "runtime/execution/session_state.h"
#include "runtime/execution/stretches.h"
#include "runtime/memory/tensor.h"

namespace attune::runtime {
namespace {

bool is_aligned(const void* data) {
  return reinterpret_cast<std::uintptr_t>(data) % kAlignment == 0;
}

// How many operands the largest call of a block has.
struct Widest {
  std::size_t buffers = 0;
  std::size_t inputs = 0;
  std::size_t outputs = 0;

  void look_at(const Block& block) {
    for (const Instruction& instruction : block) {
      std::visit(
          Match{[&](const KernelCall& call) { buffers = std::max(buffers, call.buffers.size()); },
                [&](const HostCall& call) {
                  inputs = std::max(inputs, call.inputs.size());
                  outputs = std::max(outputs, call.outputs.size());
                },
                [](const Copy&) {},
                [&](const If& branch) {
                  look_at(branch.then_block);
                  look_at(branch.else_block);
                },
                [&](const Loop& loop) { look_at(loop.body); }},
          instruction.kind);
    }
  }
};

}  // namespace

void Profile::clear() { layers_.clear(); }

Status Session::State::allocate() {
  ATTUNE_RETURN_IF_ERROR(model->state().make_ready());
  ATTUNE_ASSIGN(arena, Memory::allocate(static_cast<std::size_t>(plan().arena_bytes), Pages::Huge));
  ATTUNE_ASSIGN(workspace,
                Memory::allocate(static_cast<std::size_t>(plan().workspace_bytes), Pages::Huge));
  ATTUNE_ASSIGN(extents, Memory::allocate(8 * static_cast<std::size_t>(plan().extents)));
  if (plan().device_arena_bytes > 0) {
    ATTUNE_ASSIGN(device_arena, model->state().device->allocate(
                                    static_cast<std::size_t>(plan().device_arena_bytes)));
  }
  ATTUNE_ASSIGN(stream,
                model->state().device->open_stream({.pool = pool, .workspace = workspace.data()}));
  input_data.resize(plan().inputs.size());
  output_data.resize(plan().outputs.size());
  input_copies.resize(plan().inputs.size());
  output_copies.resize(plan().outputs.size());
  output_shapes.resize(plan().outputs.size());
  const auto largest = [](const InterfaceTensor& tensor) {
    return static_cast<std::size_t>(maximal_bytes(tensor.type, tensor.dims).value());
  };
  for (const InterfaceTensor& tensor : plan().inputs) input_bytes.push_back(largest(tensor));
  for (const InterfaceTensor& tensor : plan().outputs) output_bytes.push_back(largest(tensor));
  for (const Buffer& buffer : plan().buffers) {
    std::byte* start = start_of(buffer);
    addresses.push_back(start != nullptr ? start + buffer.position : nullptr);
  }
  ATTUNE_RETURN_IF_ERROR(stage_interface());
  if (stream->records()) {
    stretches = stretches_of(plan(), !input_staging.empty() || !output_staging.empty());
  }
  Widest widest;
  widest.look_at(plan().body);
  arguments.resize(widest.buffers);
  host_inputs.resize(widest.inputs);
  host_outputs.resize(widest.outputs);
  return {};
}

// All of them or none: a device has such memory or has not.
Status Session::State::stage_interface() {
  if (plan().kernel_space == Space::Host) return {};
  const auto stage = [&](const std::vector<std::size_t>& bytes, auto& staging) -> Status {
    for (const std::size_t most : bytes) {
      ATTUNE_ASSIGN(std::unique_ptr<DeviceMemory> memory,
                    model->state().device->allocate_host(most));
      if (memory == nullptr) return {};
      staging.push_back(std::move(memory));
    }
    return {};
  };
  ATTUNE_RETURN_IF_ERROR(stage(input_bytes, input_staging));
  return stage(output_bytes, output_staging);
}

// Of the memory that the buffer lies in; inputs and outputs are known when a run begins.
std::byte* Session::State::start_of(const Buffer& buffer) const {
  const bool on_device = buffer.space == Space::Device;
  switch (buffer.place) {
    case Place::Arena:
      if (on_device) return device_arena != nullptr ? device_arena->address() : nullptr;
      return static_cast<std::byte*>(arena.data());
    case Place::Constant:
      if (on_device) return model->state().weights->address();
      // Sections are mapped read only; kernels are only handed the addresses.
      return const_cast<std::byte*>(model->artifact().weights().data());
    case Place::Extents:
      return static_cast<std::byte*>(extents.data());
    case Place::Input:
    case Place::Output:
      break;
  }
  return nullptr;
}

Status Session::State::bind_input(std::size_t index, const InputView& view) {
  const InterfaceTensor& tensor = plan().inputs[index];
  const auto bad = [&](const std::string& why, const char* hint) {
    return invalid("input '" + tensor.name + "' " + why, hint);
  };
  if (view.type != tensor.type) {
    return bad("is " + std::string(name_of(view.type)) + ", the model takes " +
                   std::string(name_of(tensor.type)),
               "convert it first");
  }
  bool fits = view.shape.size() == tensor.dims.size();
  for (std::size_t i = 0; fits && i < tensor.dims.size(); ++i) {
    const Dim& dim = tensor.dims[i];
    fits = dim.extent == kNone ? view.shape[i] == dim.maximum
                               : view.shape[i] >= 0 && view.shape[i] <= dim.maximum;
  }
  if (!fits) {
    std::vector<std::int64_t> expected;
    for (const Dim& dim : tensor.dims) expected.push_back(dim.maximum);
    return bad("has shape " + shape_text(view.shape) + ", the model takes " + shape_text(expected),
               "give it that shape, or compile the model for yours with --shape");
  }
  for (std::size_t i = 0; i < tensor.dims.size(); ++i) {
    if (tensor.dims[i].extent == kNone) continue;
    extent_table()[tensor.dims[i].extent] = view.shape[i];
  }
  const std::size_t most = input_bytes[index];
  const auto bytes = static_cast<std::size_t>(checked_bytes(tensor.type, view.shape).value());
  if (bytes > 0 && view.data == nullptr) return bad("has no data", "");
  for (std::size_t i = 0; !tensor.most.empty() && i < bytes / byte_size(tensor.type); ++i) {
    const std::int64_t limit = tensor.most[std::min(i, tensor.most.size() - 1)];
    const auto value = static_cast<std::int64_t>(
        read_element(view.data, tensor.type, static_cast<std::int64_t>(i)));
    if (value >= 0 && value <= limit) continue;
    return bad("holds " + std::to_string(value) + ", the model was compiled for 0 to " +
                   std::to_string(limit),
               "give less, or compile the model for more with --max");
  }
  if (!input_staging.empty()) {
    input_data[index] = input_staging[index]->address();
    if (bytes > 0) std::memcpy(input_data[index], view.data, bytes);
    return {};
  }
  if (bytes == most && is_aligned(view.data)) {
    // Inputs are only read; the table has one type of address.
    input_data[index] = static_cast<std::byte*>(const_cast<void*>(view.data));
    return {};
  }
  Memory& copy = input_copies[index];
  if (copy.bytes() < most) {
    ATTUNE_ASSIGN(copy, Memory::allocate(most));
  }
  if (bytes > 0) std::memcpy(copy.data(), view.data, bytes);
  input_data[index] = static_cast<std::byte*>(copy.data());
  return {};
}

Status Session::State::bind_output(std::size_t index, const OutputView& view) {
  const InterfaceTensor& tensor = plan().outputs[index];
  const std::size_t most = output_bytes[index];
  if (view.bytes < most || (most > 0 && view.data == nullptr)) {
    return invalid("output '" + tensor.name + "' has room for " + std::to_string(view.bytes) +
                       " bytes and needs " + std::to_string(most),
                   "make room for its largest shape");
  }
  if (!output_staging.empty()) {
    output_data[index] = output_staging[index]->address();
    return {};
  }
  if (is_aligned(view.data)) {
    output_data[index] = static_cast<std::byte*>(view.data);
    return {};
  }
  Memory& copy = output_copies[index];
  if (copy.bytes() < most) {
    ATTUNE_ASSIGN(copy, Memory::allocate(most));
  }
  output_data[index] = static_cast<std::byte*>(copy.data());
  return {};
}

Status Session::State::bind(std::span<const InputView> inputs,
                            std::span<const OutputView> outputs) {
  if (inputs.size() != plan().inputs.size() || outputs.size() != plan().outputs.size()) {
    return invalid("the model takes " + std::to_string(plan().inputs.size()) +
                   " inputs and gives " + std::to_string(plan().outputs.size()) + " outputs, not " +
                   std::to_string(inputs.size()) + " and " + std::to_string(outputs.size()));
  }
  std::fill_n(extent_table(), plan().extents, 0);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ATTUNE_RETURN_IF_ERROR(bind_input(i, inputs[i]));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    ATTUNE_RETURN_IF_ERROR(bind_output(i, outputs[i]));
  }
  resolve_interface();
  return {};
}

void Session::State::resolve_interface() {
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const Buffer& buffer = plan().buffers[i];
    const auto position = static_cast<std::size_t>(buffer.position);
    if (buffer.place == Place::Input) addresses[i] = input_data[position];
    if (buffer.place == Place::Output) addresses[i] = output_data[position];
  }
}

Status Session::State::finish(std::span<const OutputView> outputs) {
  ATTUNE_RETURN_IF_ERROR(stream->wait());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const InterfaceTensor& tensor = plan().outputs[i];
    ATTUNE_ASSIGN(output_shapes[i], actual_shape(tensor.dims));
    if (output_data[i] == outputs[i].data) continue;
    const auto bytes = checked_bytes(tensor.type, output_shapes[i].span()).value();
    if (bytes > 0) std::memcpy(outputs[i].data, output_data[i], static_cast<std::size_t>(bytes));
  }
  return {};
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::create(std::shared_ptr<const Model> model, ThreadPool& pool) {
  auto state = std::make_unique<State>();
  state->model = std::move(model);
  state->pool = &pool;
  ATTUNE_RETURN_IF_ERROR(state->allocate());
  return Session(std::move(state));
}

Status Session::run(std::span<const InputView> inputs, std::span<const OutputView> outputs,
                    Profile* profile) {
  ATTUNE_RETURN_IF_ERROR(state_->model->artifact().check_unchanged());
  ATTUNE_RETURN_IF_ERROR(state_->bind(inputs, outputs));
  state_->start_profile(profile);
  ATTUNE_RETURN_IF_ERROR(state_->run(state_->plan().body, 0));
  ATTUNE_RETURN_IF_ERROR(state_->finish(outputs));
  return state_->model->artifact().check_unchanged();
}

Status Session::run_again() {
  ATTUNE_RETURN_IF_ERROR(state_->model->artifact().check_unchanged());
  return state_->run_kernels();
}

void Session::forget_recordings() {
  state_->row = {};
  for (auto& [first, stretch] : state_->stretches) stretch.takes = {};
}

std::int64_t Session::now_ns() const { return state_->stream->now_ns(); }

std::span<const std::int64_t> Session::output_shape(std::size_t index) const {
  CHECK(index < state_->output_shapes.size(), "no such output");
  return state_->output_shapes[index].span();
}

const Model& Session::model() const { return *state_->model; }

std::size_t Session::bytes() const {
  std::size_t total = state_->arena.bytes() + state_->workspace.bytes() + state_->extents.bytes() +
                      static_cast<std::size_t>(state_->plan().device_arena_bytes);
  for (const Memory& copy : state_->input_copies) total += copy.bytes();
  for (const Memory& copy : state_->output_copies) total += copy.bytes();
  for (std::size_t i = 0; i < state_->input_staging.size(); ++i) total += state_->input_bytes[i];
  for (std::size_t i = 0; i < state_->output_staging.size(); ++i) total += state_->output_bytes[i];
  return total;
}

}  // namespace attune::runtime
