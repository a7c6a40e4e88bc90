#include "compiler/ir/interpret/bulk_call.h"

#include <fmt/format.h>

#include "compiler/ir/nodes/intrinsics.h"

namespace attune::ir {
namespace {

constexpr std::int64_t kUnitBytes = 16;

struct Form {
  std::string_view name;
  BulkCall::Kind kind;
  int counter, count, arguments;  // which argument is the counter, and the number; -1: none
};
constexpr Form kForms[] = {
    {kBulkInit, BulkCall::Kind::Init, 0, 1, 2},
    {kBulkCopy, BulkCall::Kind::Copy, 3, 2, 5},
    {kBulkWait, BulkCall::Kind::Wait, 0, -1, 2},
    {kClusterBarrier, BulkCall::Kind::ClusterBarrier, -1, 0, 2},
};

const Form* form_of(const Opaque& call) {
  for (const Form& form : kForms) {
    if (form.name == call.name) return &form;
  }
  return nullptr;
}

}  // namespace

bool BulkCall::is_bulk(const Opaque& call) { return form_of(call) != nullptr; }

Result<BulkCall> BulkCall::compile(const Opaque& call, Evaluator& evaluator) {
  const Form& form = *form_of(call);
  const auto wrong = [&] {
    return invalid(
        fmt::format("'{}' is called with other arguments than it is declared with", call.name));
  };
  if (std::ssize(call.args) != form.arguments) return wrong();
  const auto place = [&](int argument, Scope scope) -> const Load* {
    const auto* load = as<Load>(call.args[static_cast<std::size_t>(argument)]);
    return load && load->buffer->scope == scope ? load : nullptr;
  };
  BulkCall compiled;
  compiled.kind_ = form.kind;
  if (form.counter >= 0) {
    const Load* counter = place(form.counter, Scope::Shared);
    if (!counter || counter->buffer->type != kI64) return wrong();
    ATTUNE_ASSIGN(compiled.counter_, evaluator.compile_access(counter->buffer, counter->index));
  }
  if (form.count >= 0) {
    const auto* count = as_int(call.args[static_cast<std::size_t>(form.count)]);
    if (!count || *count < 1) return wrong();
    compiled.count_ = *count;
  }
  if (form.kind == Kind::Wait) {
    ATTUNE_ASSIGN(compiled.parity_, evaluator.compile(call.args[1]));
  }
  if (form.kind != Kind::Copy) return compiled;
  const Load *to = place(0, Scope::Shared), *from = place(1, Scope::Global);
  const auto* blocks = as_int(call.args[4]);
  if (!to || !from || to->buffer->type != from->buffer->type || !blocks || *blocks < 1 ||
      compiled.count_ * to->buffer->type.element_bytes() % (kUnitBytes * *blocks) != 0) {
    return wrong();
  }
  compiled.blocks_ = *blocks;
  ATTUNE_ASSIGN(compiled.to_, evaluator.compile_access(to->buffer, to->index));
  ATTUNE_ASSIGN(compiled.from_, evaluator.compile_access(from->buffer, from->index));
  return compiled;
}

std::int64_t BulkCall::locate(const Access& access, Frame& frame, std::int64_t elements,
                              const char* action) {
  const std::int64_t position = access.locate(frame, 0, action);
  if (position < 0) return -1;
  const auto fail = [&](Fault fault, const char* why) {
    access.fail(frame, position, fault,
                fmt::format("bulk {} of {} elements of {} {}", action, elements,
                            access.place(frame, 0), why));
    return std::int64_t{-1};
  };
  if (position + elements > element_count(*access.buffer)) {
    return fail(Fault::OutOfBounds, "is out of bounds");
  }
  const bool aligned = position * access.buffer->type.element_bytes() %
                           std::min(kUnitBytes, access.buffer->type.element_bytes() * elements) ==
                       0;
  return aligned ? position : fail(Fault::Misaligned, "is not aligned");
}

}  // namespace attune::ir
