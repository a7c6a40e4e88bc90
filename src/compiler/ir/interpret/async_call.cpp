#include "compiler/ir/interpret/async_call.h"

#include <fmt/format.h>

#include "compiler/ir/nodes/intrinsics.h"
#include "compiler/ir/text/names.h"

namespace attune::ir {
namespace {

struct Name {
  std::string_view name;
  AsyncCall::Kind kind;
  int groups;  // which argument says how many groups a wait leaves; -1: none
};
constexpr Name kNames[] = {
    {kAsyncCopy, AsyncCall::Kind::Copy, -1},
    {kAsyncCommit, AsyncCall::Kind::Commit, -1},
    {kAsyncWait, AsyncCall::Kind::Wait, 0},
    {kMatrixFence, AsyncCall::Kind::MatrixFence, -1},
    {kMatrixCommit, AsyncCall::Kind::MatrixCommit, -1},
    {kMatrixWait, AsyncCall::Kind::MatrixWait, 0},
    {kSharedFence, AsyncCall::Kind::SharedFence, -1},
};

const Name* find_name(const Opaque& call) {
  for (const Name& name : kNames) {
    if (name.name == call.name) return &name;
  }
  return nullptr;
}

}  // namespace

bool AsyncCall::is_async(const Opaque& call) { return find_name(call) != nullptr; }

Result<AsyncCall> AsyncCall::compile(const Opaque& call, Evaluator& evaluator) {
  AsyncCall compiled;
  const Name& name = *find_name(call);
  compiled.kind_ = name.kind;
  const bool wait = name.groups >= 0;
  if (!wait && name.kind != Kind::Copy) return compiled;
  const std::size_t number = wait ? 0 : 2;
  const auto* count = call.args.size() == (wait ? 1 : 4) ? as_int(call.args[number]) : nullptr;
  if (!count || *count < 0) {
    return invalid(
        fmt::format("'{}' is called with other arguments than it is declared with", call.name));
  }
  compiled.count_ = *count;
  if (wait) return compiled;
  const auto* to = as<Load>(call.args[0]);
  const auto* from = as<Load>(call.args[1]);
  if (!to || !from || to->buffer->type != from->buffer->type ||
      to->buffer->scope != Scope::Shared || from->buffer->scope != Scope::Global) {
    return invalid(fmt::format("'{}' does not copy from global to shared memory", call.name));
  }
  const std::int64_t bytes = *count * to->buffer->type.element_bytes();
  if (bytes != 4 && bytes != 8 && bytes != 16) {
    return invalid(
        fmt::format("'{}' copies {} bytes at once, must be 4, 8 or 16", call.name, bytes));
  }
  ATTUNE_ASSIGN(compiled.to_, evaluator.compile_access(to->buffer, to->index));
  ATTUNE_ASSIGN(compiled.from_, evaluator.compile_access(from->buffer, from->index));
  ATTUNE_ASSIGN(compiled.valid_, evaluator.compile(call.args[3]));
  return compiled;
}

std::int64_t AsyncCall::locate(const Access& access, Frame& frame, const char* action) const {
  const std::int64_t position = access.locate(frame, 0, action);
  if (position < 0) return -1;
  const auto fail = [&](Fault fault, const char* why) {
    access.fail(frame, position, fault,
                fmt::format("asynchronous {} of {} elements of {} {}", action, count_,
                            access.place(frame, 0), why));
    return std::int64_t{-1};
  };
  if (position + count_ > element_count(*access.buffer)) {
    return fail(Fault::OutOfBounds, "is out of bounds");
  }
  return position % count_ == 0 ? position : fail(Fault::Misaligned, "is not aligned");
}

Value AsyncCall::read(Frame& frame, std::int64_t position) const {
  const Memory& memory = *frame.memories[from_->slot];
  const auto at = static_cast<std::size_t>(position);
  if (frame.watch) frame.watch->on_read(frame, *from_, position);
  if (memory.written[at]) return memory.values[at];
  return from_->fail(
      frame, position, Fault::Uninitialised,
      fmt::format("asynchronous load of '{}' at [{}] reads an element that was never written",
                  from_->buffer->name, position));
}

void AsyncCall::copy(Frame& frame) const {
  const bool valid = valid_->run(frame, 0).i != 0;
  const std::int64_t to = locate(*to_, frame, "store");
  const std::int64_t from = valid && to >= 0 ? locate(*from_, frame, "load") : 0;
  if (frame.failed()) return;
  Memory& memory = *frame.memories[to_->slot];
  for (std::int64_t i = 0; i < count_ && !frame.failed(); ++i) {
    const Value value = valid ? read(frame, from + i) : Value{};
    if (frame.watch) {
      frame.watch->on_copy(frame, *to_, to + i, value);
    } else {
      memory.values[static_cast<std::size_t>(to + i)] = value;
      memory.written[static_cast<std::size_t>(to + i)] = 1;
    }
  }
}

void AsyncCall::run(Frame& frame) const {
  if (kind_ == Kind::Copy) return copy(frame);
  if (!frame.watch) return;
  if (kind_ == Kind::Commit) return frame.watch->on_commit(frame);
  if (kind_ == Kind::Wait) return frame.watch->on_wait(frame, count_);
  if (kind_ == Kind::SharedFence) frame.watch->on_fence(frame);
}

}  // namespace attune::ir
