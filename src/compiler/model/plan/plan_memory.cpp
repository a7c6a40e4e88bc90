#include "compiler/model/plan/plan_memory.h"

#include "base/check.h"
#include "compiler/graph/memory_plan.h"

namespace attune::model {

using runtime::BufferId;
using runtime::Place;

BufferId PlanMemory::add(runtime::Buffer buffer) {
  buffers_.push_back(buffer);
  spans_.push_back({now_, now_});
  return static_cast<BufferId>(buffers_.size()) - 1;
}

BufferId PlanMemory::input(std::int64_t index, std::int64_t bytes) {
  return add({Place::Input, index, bytes});
}
BufferId PlanMemory::output(std::int64_t index, std::int64_t bytes) {
  return add({Place::Output, index, bytes});
}
BufferId PlanMemory::constant(std::int64_t offset, std::int64_t bytes) {
  return add({Place::Constant, offset, bytes});
}
BufferId PlanMemory::arena(std::int64_t bytes) { return add({Place::Arena, 0, bytes}); }

BufferId PlanMemory::part(BufferId whole, std::int64_t offset, std::int64_t bytes) {
  const runtime::Buffer& around = buffers_[static_cast<std::size_t>(whole)];
  if (offset == 0 && bytes == around.bytes) return whole;
  CHECK(around.place == Place::Arena || around.place == Place::Constant,
        "only memory of the session and weights have parts");
  const bool in_arena = around.place == Place::Arena;
  const BufferId id = add({around.place, in_arena ? 0 : around.position + offset, bytes});
  if (in_arena) {
    spans_.back().whole = whole;
    spans_.back().offset = offset;
  }
  return id;
}

bool PlanMemory::is_whole(BufferId buffer) const {
  const auto at = static_cast<std::size_t>(buffer);
  return buffers_[at].place == Place::Arena && spans_[at].whole == runtime::kNone;
}

void PlanMemory::touch(BufferId buffer) {
  Span& span = spans_[static_cast<std::size_t>(buffer)];
  if (span.whole != runtime::kNone) return touch(span.whole);
  span.last = now_;
}

void PlanMemory::finish(runtime::Plan& plan) const {
  std::vector<graph::Lifetime> lifetimes;
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].place != Place::Arena || spans_[i].whole != runtime::kNone) continue;
    lifetimes.push_back({buffers_[i].bytes, spans_[i].first, spans_[i].last});
    which.push_back(i);
  }
  const graph::MemoryPlan memory = graph::plan_memory(lifetimes);
  plan.buffers = buffers_;
  for (std::size_t i = 0; i < which.size(); ++i) {
    plan.buffers[which[i]].position = memory.offsets[i];
  }
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (spans_[i].whole == runtime::kNone) continue;
    // Wholes come first, and have no whole themselves.
    plan.buffers[i].position =
        plan.buffers[static_cast<std::size_t>(spans_[i].whole)].position + spans_[i].offset;
  }
  plan.arena_bytes = memory.bytes;
}

}  // namespace attune::model
