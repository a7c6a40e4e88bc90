#include "compiler/model/plan/device_plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/match.h"

namespace attune::model {
namespace {

using runtime::Block;
using runtime::Buffer;
using runtime::BufferId;
using runtime::kNone;
using runtime::Place;
using runtime::Space;

std::int64_t aligned(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

class Mover {
 public:
  explicit Mover(const runtime::Plan& plan)
      : old_(plan),
        plan_(plan),
        host_(plan.buffers.size(), kNone),
        device_(plan.buffers.size(), kNone) {
    plan_.buffers.clear();
    plan_.body.clear();
    plan_.kernel_space = Space::Device;
    plan_.device_arena_bytes = aligned(plan.arena_bytes);
  }

  runtime::Plan move() {
    Block body = moved(old_.body);
    for (std::size_t i = 0; i < old_.buffers.size(); ++i) {
      const auto id = static_cast<BufferId>(i);
      if (device_[i] == kNone) continue;
      if (old_.buffers[i].place == Place::Input) upload(id, plan_.body);
      if (old_.buffers[i].place == Place::Output) download(id, body);
    }
    plan_.body.insert(plan_.body.end(), std::make_move_iterator(body.begin()),
                      std::make_move_iterator(body.end()));
    plan_.arena_bytes = 0;
    for (const Buffer& buffer : plan_.buffers) {
      if (buffer.place != Place::Arena || buffer.space != Space::Host) continue;
      plan_.arena_bytes = std::max(plan_.arena_bytes, aligned(buffer.position + buffer.bytes));
    }
    plan_.peak_bytes += plan_.arena_bytes + plan_.device_arena_bytes - old_.arena_bytes;
    return std::move(plan_);
  }

 private:
  const Buffer& old(BufferId id) const { return old_.buffers[static_cast<std::size_t>(id)]; }

  BufferId add(const Buffer& buffer) {
    plan_.buffers.push_back(buffer);
    return static_cast<BufferId>(plan_.buffers.size()) - 1;
  }
  BufferId on_host(BufferId id) {
    BufferId& known = host_[static_cast<std::size_t>(id)];
    if (known == kNone) known = add(old(id));
    return known;
  }
  BufferId on_device(BufferId id) {
    BufferId& known = device_[static_cast<std::size_t>(id)];
    if (known != kNone) return known;
    Buffer buffer = old(id);
    CHECK(buffer.place != Place::Extents, "no kernel reads run-time extents");
    buffer.space = Space::Device;
    if (buffer.place == Place::Input || buffer.place == Place::Output) {
      buffer.place = Place::Arena;
      buffer.position = plan_.device_arena_bytes;
      plan_.device_arena_bytes += aligned(buffer.bytes);
    }
    return known = add(buffer);
  }

  // Whether the host has it anyway.
  bool stays_on_host(BufferId id) const {
    const Place place = old(id).place;
    return place == Place::Input || place == Place::Constant || place == Place::Extents;
  }
  void copy(BufferId from, BufferId to, std::int64_t bytes, Block& block) {
    if (bytes > 0) block.push_back({runtime::Copy{.from = from, .to = to, .bytes = bytes}});
  }
  void upload(BufferId id, Block& block) { copy(on_host(id), on_device(id), old(id).bytes, block); }
  void download(BufferId id, Block& block) {
    copy(on_device(id), on_host(id), old(id).bytes, block);
  }
  // For the host to read; none stays none.
  BufferId seen(BufferId id, Block& block) {
    if (id == kNone) return kNone;
    if (!stays_on_host(id)) download(id, block);
    return on_host(id);
  }

  Block moved(const Block& block) {
    Block result;
    for (const runtime::Instruction& instruction : block) {
      std::visit([&](const auto& one) { add_moved(one, result); }, instruction.kind);
    }
    return result;
  }

  void add_moved(const runtime::KernelCall& call, Block& block) {
    runtime::KernelCall changed = call;
    for (BufferId& id : changed.buffers) id = on_device(id);
    block.push_back({std::move(changed)});
  }
  void add_moved(const runtime::Copy& copy, Block& block) {
    runtime::Copy changed = copy;
    changed.from = on_device(copy.from);
    changed.to = on_device(copy.to);
    block.push_back({changed});
  }
  void add_moved(const runtime::HostCall& call, Block& block) {
    runtime::HostCall changed = call;
    std::set<BufferId> downloaded;
    for (runtime::Operand& input : changed.inputs) {
      if (input.buffer == kNone) continue;
      const bool first = downloaded.insert(input.buffer).second;
      input.buffer = first ? seen(input.buffer, block) : on_host(input.buffer);
    }
    for (runtime::Operand& output : changed.outputs) {
      if (output.buffer != kNone) output.buffer = on_host(output.buffer);
    }
    block.push_back({std::move(changed)});
    for (const runtime::Operand& output : call.outputs) {
      if (output.buffer != kNone) upload(output.buffer, block);
    }
  }
  void add_moved(const runtime::If& branch, Block& block) {
    runtime::If changed;
    changed.condition = seen(branch.condition, block);
    changed.then_block = moved(branch.then_block);
    changed.else_block = moved(branch.else_block);
    block.push_back({std::move(changed)});
  }
  void add_moved(const runtime::Loop& loop, Block& block) {
    runtime::Loop changed = loop;
    changed.trip_count_buffer = seen(loop.trip_count_buffer, block);
    changed.condition = seen(loop.condition, block);
    for (runtime::Handover& handover : changed.handovers) {
      handover = {on_device(handover.now), on_device(handover.next)};
    }
    changed.body.clear();
    if (loop.iteration != kNone) {
      changed.iteration = on_host(loop.iteration);
      upload(loop.iteration, changed.body);
    }
    Block body = moved(loop.body);
    changed.body.insert(changed.body.end(), std::make_move_iterator(body.begin()),
                        std::make_move_iterator(body.end()));
    seen(loop.condition, changed.body);
    block.push_back({std::move(changed)});
  }

  const runtime::Plan& old_;
  runtime::Plan plan_;
  std::vector<BufferId> host_, device_;  // what a buffer of the old plan became, once it is used
};

}  // namespace

runtime::Plan on_device(const runtime::Plan& plan) { return Mover(plan).move(); }

}  // namespace attune::model
