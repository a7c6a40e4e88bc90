#include "compiler/ir/interpret/launches.h"

#include <fmt/format.h>

#include "compiler/ir/interpret/launch_runner.h"
#include "compiler/ir/interpret/parameters.h"

namespace attune::ir {

std::shared_ptr<Memory> new_memory(const BufferNode& buffer, bool watched) {
  auto memory = std::make_shared<Memory>(element_count(buffer));
  if (watched) memory->shadow = std::make_shared<Shadow>(element_count(buffer));
  return memory;
}

void LaunchRunner::host(const Code& code, Frame& frame) {
  if (const auto* list = std::get_if<SequenceCode>(&code.kind)) {
    for (const CodePtr& step : list->steps) {
      if (!frame.failed()) host(*step, frame);
    }
    return;
  }
  const auto* storage = std::get_if<AllocateCode>(&code.kind);
  if (storage && storage->buffer->scope == Scope::Global) {
    frame.memories[storage->slot] = new_memory(*storage->buffer, true);
    return host(*storage->body, frame);
  }
  launch(code, frame);
}

LaunchRunner::Front LaunchRunner::front_of(const Code& code) {
  Front front;
  std::vector<const Code*> seen;
  for (const Code* at = &code; at;) {
    seen.push_back(at);
    if (const auto* x = std::get_if<LoopCode>(&at->kind); x && !x->axis.empty()) {
      front.codes = seen;
      at = x->body.get();
    } else if (const auto* storage = std::get_if<AllocateCode>(&at->kind)) {
      at = storage->body.get();
    } else {
      break;
    }
  }
  front.body = front.codes.size() < seen.size() ? seen[front.codes.size()] : &code;
  return front;
}

bool LaunchRunner::within_limits(const Launch& launch) {
  const LaunchLimits& limits = options_.limits;
  const auto check = [&](std::int64_t needs, std::int64_t has, const char* what) {
    if (needs <= has) return true;
    findings_.add(FindingKind::LaunchLimit, what,
                  fmt::format("launch {} needs {} {}, the device has {}", next_launch_ - 1, needs,
                              what, has));
    return false;
  };
  bool fits = check(launch.threads(), limits.threads_per_block, "threads in a block");
  fits &= check(launch.shared_bytes, limits.shared_bytes, "bytes of shared memory in a block");
  fits &= check(launch.register_bytes, limits.register_bytes, "bytes of registers in a thread");
  fits &= check(launch.stack_bytes, limits.stack_bytes, "bytes of stack in a thread");
  return fits;
}

void LaunchRunner::launch(const Code& code, const Frame& frame) {
  const Launch& shape = launches_[next_launch_++];
  if (!within_limits(shape)) return;
  now_.grid = shape.grid;
  now_.threads = shape.block;
  now_.launch_phase = ++now_.phase;
  if (options_.meter) options_.meter->begin_launch(shape);
  run_block(front_of(code), frame, 0);
  if (options_.meter) options_.meter->end_launch();
}

// Goes through the front of a launch up to its first thread loop, and runs each block there.
void LaunchRunner::run_block(const Front& front, const Frame& base, std::size_t at) {
  const auto is_thread = [&](std::size_t i) {
    const auto* x = std::get_if<LoopCode>(&front.codes[i]->kind);
    return x && !hardware_axis(x->axis).block;
  };
  bool more_blocks = false;
  for (std::size_t i = at; i < front.codes.size(); ++i) {
    const auto* x = std::get_if<LoopCode>(&front.codes[i]->kind);
    more_blocks |= x && hardware_axis(x->axis).block;
  }
  if (more_blocks && !is_thread(at)) {
    Frame inner = base;
    if (const auto* storage = std::get_if<AllocateCode>(&front.codes[at]->kind)) {
      inner.memories[storage->slot] = new_memory(*storage->buffer, true);
      return run_block(front, inner, at + 1);
    }
    const auto& x = std::get<LoopCode>(front.codes[at]->kind);
    const int dimension = hardware_axis(x.axis).dimension;
    std::int64_t stride = 1;
    for (int d = 0; d < dimension; ++d) stride *= now_.grid[d];
    const std::int64_t min = x.min->run(inner, 0).i, extent = x.extent->run(inner, 0).i;
    const std::int64_t first = now_.block;
    for (std::int64_t i = 0; i < extent && !failure_; ++i) {
      inner.variables[x.slot].i = min + i;
      now_.block = first + i * stride;
      run_block(front, inner, at + 1);
    }
    now_.block = first;
    return;
  }
  ++now_.phase;
  if (options_.meter) options_.meter->begin_block();
  make_threads(front, base, at);
  shared_.assign(base.memories.size(), nullptr);
  copies_.begin_block(frames_.size());
  matrices_.begin_block(frames_.size());
  bulk_.begin_block(frames_.size());
  cluster_phase_ = 0;
  Threads all(frames_.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  run(*front.body, all);
  find_unwaited();
  find_unwaited_matrices();
  find_unwaited_bulk();
  if (options_.meter) options_.meter->end_block();
}

void LaunchRunner::make_threads(const Front& front, const Frame& base, std::size_t at) {
  frames_.assign(static_cast<std::size_t>(now_.threads[0] * now_.threads[1] * now_.threads[2]),
                 base);
  for (std::size_t t = 0; t < frames_.size(); ++t) {
    frames_[t].watch = this;
    frames_[t].thread = static_cast<int>(t);
  }
  bool among_threads = false;
  for (std::size_t i = at; i < front.codes.size(); ++i) {
    if (const auto* storage = std::get_if<AllocateCode>(&front.codes[i]->kind)) {
      const bool own = among_threads && storage->buffer->scope != Scope::Shared;
      std::shared_ptr<Memory> memory = new_memory(*storage->buffer, true);
      for (Frame& frame : frames_) {
        frame.memories[storage->slot] = own ? new_memory(*storage->buffer, false) : memory;
      }
      continue;
    }
    const auto& x = std::get<LoopCode>(front.codes[i]->kind);
    among_threads = true;
    const int dimension = hardware_axis(x.axis).dimension;
    std::int64_t stride = 1;
    for (int d = 0; d < dimension; ++d) stride *= now_.threads[d];
    for (std::size_t t = 0; t < frames_.size(); ++t) {
      const std::int64_t i_of =
          static_cast<std::int64_t>(t) / stride % now_.threads[static_cast<std::size_t>(dimension)];
      frames_[t].variables[x.slot].i = x.min->run(frames_[t], 0).i + i_of;
    }
  }
}

Result<std::vector<Finding>> run_launches(const Kernel& kernel, std::vector<Array>& buffers,
                                          int initialised, const LaunchOptions& options) {
  ATTUNE_RETURN_IF_ERROR(check_parameters(kernel, buffers));
  Evaluator evaluator;
  for (const Buffer& param : kernel.params) evaluator.add_buffer(param);
  ATTUNE_ASSIGN(const CodePtr code, compile_statement(kernel.body, evaluator));
  std::optional<Error> failure;
  Frame frame = evaluator.make_frame(failure);
  load_parameters(frame, buffers, initialised);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    frame.memories[i]->shadow = std::make_shared<Shadow>(buffers[i].count());
  }
  Findings findings;
  LaunchRunner runner(launches_of(kernel), options, findings, failure);
  runner.watch_matrices(calls_warpgroups(kernel.body));
  runner.host(*code, frame);
  store_parameters(frame, buffers);
  if (failure && findings.list().empty()) return *failure;
  return findings.list();
}

}  // namespace attune::ir
