// Running instructions. The plan was validated when it was loaded; what remains to check is what
// depends on data: run-time extents, trip counts and iteration numbers.
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/match.h"
#include "runtime/execution/session_state.h"
#include "runtime/memory/tensor.h"

namespace attune::runtime {
namespace {

bool in_bounds(std::int64_t position, std::int64_t bytes, std::int64_t room) {
  return position >= 0 && position <= room && bytes <= room - position;
}

bool position_of(std::int64_t offset, std::int64_t step, std::int64_t iteration,
                 std::int64_t& position) {
  return !__builtin_mul_overflow(step, iteration, &position) &&
         !__builtin_add_overflow(position, offset, &position);
}

}  // namespace

Result<Shape> Session::State::actual_shape(const std::vector<Dim>& dims) const {
  Shape shape;
  for (const Dim& dim : dims) {
    const std::int64_t extent = dim.extent == kNone ? dim.maximum : extent_table()[dim.extent];
    if (extent < 0 || extent > dim.maximum) {
      return invalid("a tensor has the run-time extent " + std::to_string(extent) +
                         ", the model was compiled for at most " + std::to_string(dim.maximum),
                     "compile the model with larger bounds");
    }
    shape.push_back(extent);
  }
  return shape;
}

Status Session::State::verify_constant(BufferId id) const {
  const Buffer& buffer = plan().buffers[static_cast<std::size_t>(id)];
  // Those of a device were verified on the way there.
  if (buffer.place != Place::Constant || buffer.space == Space::Device) return {};
  return model->artifact().verify_weights(buffer.position, buffer.bytes);
}

Status Session::State::run(const KernelCall& call) {
  for (std::size_t i = 0; i < call.buffers.size(); ++i) {
    ATTUNE_RETURN_IF_ERROR(verify_constant(call.buffers[i]));
    arguments[i] = addresses[static_cast<std::size_t>(call.buffers[i])];
  }
  const KernelHandle kernel = model->state().kernels[static_cast<std::size_t>(call.kernel)];
  const auto given = std::span(arguments).first(call.buffers.size());
  Status done;
  if (profile == nullptr) {
    done = stream->launch(kernel, given);
  } else if (const auto took = stream->launch_timed(kernel, given); took.ok()) {
    add_time(&call, *took);
  } else {
    done = took.error();
  }
  if (done.ok()) return {};
  return Error{done.error().code, "layer '" + call.layer + "': " + done.error().message,
               done.error().hint};
}

Status Session::State::run(const HostCall& call) {
  const auto fill = [&](const Operand& operand, HostTensor& tensor) {
    tensor = {.type = operand.type,
              .shape = {},
              .data = nullptr,
              .capacity_bytes = 0,
              .present = operand.buffer != kNone};
    if (!tensor.present) return;
    tensor.data = addresses[static_cast<std::size_t>(operand.buffer)];
    tensor.capacity_bytes = plan().buffers[static_cast<std::size_t>(operand.buffer)].bytes;
  };
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    fill(call.inputs[i], host_inputs[i]);
    if (!host_inputs[i].present) continue;
    ATTUNE_RETURN_IF_ERROR(verify_constant(call.inputs[i].buffer));
    ATTUNE_ASSIGN(host_inputs[i].shape, actual_shape(call.inputs[i].dims));
  }
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    fill(call.outputs[i], host_outputs[i]);
    for (const Dim& dim : call.outputs[i].dims) host_outputs[i].shape.push_back(dim.maximum);
  }
  const Status done =
      run_host(call.op, call.attributes, std::span(host_inputs).first(call.inputs.size()),
               std::span(host_outputs).first(call.outputs.size()));
  if (!done.ok()) {
    return Error{done.error().code, "layer '" + call.layer + "': " + done.error().message,
                 done.error().hint};
  }
  return keep_extents(call);
}

// What the operator made of its outputs' shapes becomes known to the instructions behind it.
Status Session::State::keep_extents(const HostCall& call) {
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    const Operand& operand = call.outputs[i];
    const Shape& shape = host_outputs[i].shape;
    if (operand.buffer == kNone) continue;
    bool fits = shape.rank() == operand.dims.size();
    for (std::size_t d = 0; fits && d < shape.rank(); ++d) {
      const Dim& dim = operand.dims[d];
      fits = dim.extent == kNone ? shape[d] == dim.maximum : shape[d] <= dim.maximum;
    }
    if (!fits) {
      Shape most;
      for (const Dim& dim : operand.dims) most.push_back(dim.maximum);
      return invalid("layer '" + call.layer + "': " + call.op + " gave a tensor of shape " +
                         shape_text(shape.span()) + ", the model was compiled for " +
                         shape_text(most.span()),
                     "compile the model with larger bounds");
    }
    for (std::size_t d = 0; d < shape.rank(); ++d) {
      if (operand.dims[d].extent != kNone) extent_table()[operand.dims[d].extent] = shape[d];
    }
  }
  return {};
}

Status Session::State::run(const Copy& copy, std::int64_t iteration) {
  const std::int64_t from_room = plan().buffers[static_cast<std::size_t>(copy.from)].bytes;
  const std::int64_t to_room = plan().buffers[static_cast<std::size_t>(copy.to)].bytes;
  std::int64_t from = 0;
  std::int64_t to = 0;
  if (!position_of(copy.from_offset, copy.from_step, iteration, from) ||
      !position_of(copy.to_offset, copy.to_step, iteration, to) ||
      !in_bounds(from, copy.bytes, from_room) || !in_bounds(to, copy.bytes, to_room)) {
    return invalid("iteration " + std::to_string(iteration) +
                       " of a loop is beyond what the model was compiled for",
                   "compile the model with larger bounds");
  }
  ATTUNE_RETURN_IF_ERROR(verify_constant(copy.from));
  const Buffer& source = plan().buffers[static_cast<std::size_t>(copy.from)];
  const Buffer& goal = plan().buffers[static_cast<std::size_t>(copy.to)];
  ATTUNE_RETURN_IF_ERROR(move({goal.space, addresses[static_cast<std::size_t>(copy.to)] + to},
                              {source.space, addresses[static_cast<std::size_t>(copy.from)] + from},
                              static_cast<std::size_t>(copy.bytes)));
  // The device still reads what is staged; host operators may write there again.
  const bool is_read = source.place == Place::Output && goal.space == Space::Device;
  return is_read && !output_staging.empty() ? stream->wait() : Status();
}

Status Session::State::move(const Location& to, const Location& from, std::size_t bytes) {
  if (bytes == 0 || (kernels_only && to.space != from.space)) return {};
  if (to.space == Space::Device || from.space == Space::Device) {
    return stream->copy(to, from, bytes);
  }
  std::memmove(to.address, from.address, bytes);
  return {};
}

Status Session::State::run(const Loop& loop) {
  std::int64_t trips =
      loop.trip_count >= 0 ? loop.trip_count : std::numeric_limits<std::int64_t>::max();
  if (loop.trip_count_buffer != kNone) {
    ATTUNE_RETURN_IF_ERROR(verify_constant(loop.trip_count_buffer));
    std::int64_t given = 0;
    std::memcpy(&given, addresses[static_cast<std::size_t>(loop.trip_count_buffer)], sizeof given);
    trips = std::min(trips, given);
  }
  if (loop.condition != kNone) ATTUNE_RETURN_IF_ERROR(verify_constant(loop.condition));
  std::int64_t i = 0;
  Status status;
  while (i < trips && (loop.condition == kNone || read_flag(loop.condition))) {
    if (loop.iteration != kNone) {
      std::memcpy(addresses[static_cast<std::size_t>(loop.iteration)], &i, sizeof i);
    }
    status = run(loop.body, i);
    if (!status.ok()) break;
    exchange(loop);
    ++i;
  }
  // Their own memory again, also for the next run after one that failed.
  if (i % 2 == 1 && !loop.handovers.empty()) {
    exchange(loop);
    for (const auto& [now, next] : loop.handovers) {
      if (status.ok()) status = run(Copy{.from = next, .to = now, .bytes = bytes_of(now)}, 0);
    }
  }
  if (loop.iterations_extent != kNone) extent_table()[loop.iterations_extent] = i;
  return status;
}

void Session::State::exchange(const Loop& loop) {
  for (const auto& [now, next] : loop.handovers) {
    std::swap(addresses[static_cast<std::size_t>(now)], addresses[static_cast<std::size_t>(next)]);
  }
}

Status Session::State::run(const If& branch, std::int64_t iteration) {
  ATTUNE_RETURN_IF_ERROR(verify_constant(branch.condition));
  const bool taken = read_flag(branch.condition);
  return run(taken ? branch.then_block : branch.else_block, iteration);
}

Status Session::State::timed(const HostCall& call) {
  if (profile == nullptr) return run(call);
  const std::int64_t start = stream->now_ns();
  const Status status = run(call);
  if (status.ok()) add_time(&call, stream->now_ns() - start);
  return status;
}

void Session::State::add_time(const void* call, std::int64_t ns) {
  LayerTime& layer = profile->layers_[profile_index.at(call)];
  layer.total_ns += ns;
  layer.fastest_ns = layer.calls == 0 ? ns : std::min(layer.fastest_ns, ns);
  ++layer.calls;
}

Status Session::State::run(const Instruction& instruction, std::int64_t iteration) {
  return std::visit(Match{[&](const KernelCall& call) { return run(call); },
                          [&](const HostCall& call) { return timed(call); },
                          [&](const Copy& copy) { return run(copy, iteration); },
                          [&](const If& branch) { return run(branch, iteration); },
                          [&](const Loop& loop) { return run(loop); }},
                    instruction.kind);
}

Status Session::State::run(std::span<const Instruction> instructions, std::int64_t iteration) {
  for (const Instruction& instruction : instructions) {
    ATTUNE_RETURN_IF_ERROR(run(instruction, iteration));
  }
  return {};
}

Status Session::State::run(const Block& block, std::int64_t iteration) {
  if (stretches.empty()) return run(std::span(block), iteration);
  for (std::size_t i = 0; i < block.size();) {
    Stretch* const stretch = stretch_at(block[i]);
    const std::size_t end = stretch != nullptr ? stretch->end : i + 1;
    const auto some = std::span(block).subspan(i, end - i);
    ATTUNE_RETURN_IF_ERROR(stretch != nullptr ? run(*stretch, some, iteration)
                                              : run(some, iteration));
    i = end;
  }
  return {};
}

// One entry per call, in the order of the plan.
void Session::State::list_calls(const Block& block, std::vector<LayerTime>& layers) {
  const auto add = [&](const auto& call, std::string_view what, double flops) {
    profile_index.emplace(&call, layers.size());
    layers.push_back({.layer = call.layer, .what = what, .flops = flops});
  };
  for (const Instruction& instruction : block) {
    std::visit(Match{[&](const KernelCall& call) {
                       add(call, plan().kernels[static_cast<std::size_t>(call.kernel)].symbol,
                           call.flops);
                     },
                     [&](const HostCall& call) { add(call, call.op, 0.0); }, [](const Copy&) {},
                     [&](const If& branch) {
                       list_calls(branch.then_block, layers);
                       list_calls(branch.else_block, layers);
                     },
                     [&](const Loop& loop) { list_calls(loop.body, layers); }},
               instruction.kind);
  }
}

void Session::State::start_profile(Profile* wanted) {
  profile = wanted;
  if (profile == nullptr) return;
  std::vector<LayerTime> layers;
  profile_index.clear();
  list_calls(plan().body, layers);
  if (profile->layers_.empty()) profile->layers_ = std::move(layers);
}

}  // namespace attune::runtime
