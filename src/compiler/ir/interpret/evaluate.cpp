#include "compiler/ir/interpret/evaluate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/check.h"
#include "base/match.h"
#include "compiler/ir/nodes/intrinsics.h"
#include "compiler/ir/simplify/interval.h"
#include "compiler/ir/text/names.h"
#include "compiler/ir/text/print.h"

namespace attune::ir {
namespace {

Value run_constant(const Node& n, Frame&, int) { return n.constant; }
Value run_variable(const Node& n, Frame& frame, int) { return frame.variables[n.slot]; }
Value run_broadcast(const Node& n, Frame& frame, int) { return n.a->run(frame, 0); }

Value run_select(const Node& n, Frame& frame, int lane) {
  return (n.a->run(frame, lane).i ? n.b : n.c)->run(frame, lane);
}

Value run_cast(const Node& n, Frame& frame, int lane) {
  return convert(n.a->run(frame, lane), n.operand, n.type);
}

Value run_ramp(const Node& n, Frame& frame, int lane) {
  const Value base = n.a->run(frame, 0), stride = n.b->run(frame, 0);
  Value result;
  if (n.type.is_float()) {
    result.f = round_to(n.type, base.f + round_to(n.type, lane * stride.f));
  } else {
    result.i = wrap_to(n.type, wrap_add(base.i, wrap_mul(lane, stride.i)));
  }
  return result;
}

// Folds the lanes of `a` from the first on; `b` is a two-operand node whose operands are slots.
Value run_reduce(const Node& n, Frame& frame, int) {
  Value total = n.a->run(frame, 0);
  for (int lane = 1; lane < n.lanes; ++lane) {
    frame.variables[n.slot] = total;
    frame.variables[n.slot + 1] = n.a->run(frame, lane);
    total = n.b->run(frame, 0);
  }
  return total;
}

Value run_load(const Node& n, Frame& frame, int lane) {
  const std::int64_t position = n.access->locate(frame, lane, "load");
  if (position < 0) return {};
  const auto at = static_cast<std::size_t>(position);
  Memory& memory = *frame.memories[n.access->slot];
  if (frame.watch) frame.watch->on_read(frame, *n.access, position);
  if (!memory.written[at]) {
    if (memory.producer) {
      memory.producer(position, frame);
    } else {
      return n.access->fail(frame, position, Fault::Uninitialised,
                            fmt::format("load of {} reads an element that was never written",
                                        n.access->place(frame, lane)));
    }
  }
  return memory.values[at];
}

}  // namespace

void Memory::assign(const Array& array) {
  CHECK(static_cast<std::size_t>(array.count()) == values.size(), "the array fits the memory");
  for (std::int64_t i = 0; i < std::ssize(values); ++i) assign(array, i);
}

void Memory::assign(const Array& array, std::int64_t position) {
  const auto at = static_cast<std::size_t>(position);
  if (array.type.is_float()) {
    values[at].f = array.real(position);
  } else {
    values[at].i = array.integer(position);
  }
  written[at] = 1;
}

void Memory::copy_to(Array& array) const {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!written[i]) continue;
    const auto position = static_cast<std::int64_t>(i);
    if (array.type.is_float()) {
      array.set_real(position, values[i].f);
    } else {
      array.set_int(position, values[i].i);
    }
  }
}

Value Frame::fail(std::string message) {
  if (!failed()) *failure = invalid(std::move(message));
  return {};
}

std::string Access::place(Frame& frame, int lane) const {
  std::vector<std::int64_t> at;
  for (const Node* i : index) at.push_back(i->run(frame, lane).i);
  return fmt::format("'{}' at [{}], shape [{}],", buffer->name, fmt::join(at, ", "),
                     fmt::join(buffer->shape, ", "));
}

std::int64_t Access::locate(Frame& frame, int lane, const char* action) const {
  std::int64_t position = 0;
  bool inside = true;
  for (std::size_t d = 0; d < index.size(); ++d) {
    const std::int64_t i = index[d]->run(frame, lane).i;
    inside &= i >= 0 && i < buffer->shape[d];
    position += i * strides[d];
  }
  if (frame.failed()) return -1;
  if (inside) return position;
  fail(frame, position, Fault::OutOfBounds,
       fmt::format("{} of {} is out of bounds", action, place(frame, lane)));
  return -1;
}

Value Access::fail(Frame& frame, std::int64_t position, Fault fault, std::string message) const {
  if (frame.watch && !frame.failed()) frame.watch->on_fault(frame, *this, position, fault, message);
  return frame.fail(std::move(message));
}

Value convert(Value value, DType from, DType to) {
  Value result;
  if (to.is_float()) {
    if (from.is_float()) {
      result.f = round_to(to, value.f);
    } else if (from == kU64) {
      const auto number = static_cast<std::uint64_t>(value.i);
      result.f = to == kF32 ? static_cast<double>(static_cast<float>(number))
                            : round_to(to, static_cast<double>(number));
    } else if (to == kF32) {
      result.f = static_cast<float>(value.i);
    } else {
      result.f = round_to(to, static_cast<double>(value.i));
    }
  } else {
    result.i = from.is_float() ? truncate_to(to, value.f) : wrap_to(to, value.i);
  }
  return result;
}

std::size_t Evaluator::push_variable(const std::string& name) {
  scope_.emplace_back(name, variable_count_);
  return variable_count_++;
}

std::size_t Evaluator::add_buffer(const Buffer& buffer) {
  return buffers_[buffer.get()] = buffer_count_++;
}

Frame Evaluator::make_frame(std::optional<Error>& failure) const {
  Frame frame;
  frame.variables.resize(variable_count_);
  frame.memories.resize(buffer_count_);
  frame.failure = &failure;
  return frame;
}

Result<const Access*> Evaluator::compile_access(const Buffer& buffer,
                                                const std::vector<Expr>& index) {
  const auto found = buffers_.find(buffer.get());
  if (found == buffers_.end()) {
    return invalid(fmt::format("buffer '{}' is used where it does not exist", buffer->name));
  }
  if (index.size() != buffer->shape.size()) {
    return invalid(fmt::format("buffer '{}' has {} dimensions and is used with {} indices",
                               buffer->name, buffer->shape.size(), index.size()));
  }
  Access access{buffer.get(), found->second, {}, std::vector<std::int64_t>(index.size(), 1)};
  for (const Expr& i : index) {
    ATTUNE_ASSIGN(const Node* node, compile(i));
    access.index.push_back(node);
  }
  for (std::size_t d = index.size(); d-- > 1;) {
    access.strides[d - 1] = access.strides[d] * buffer->shape[d];
  }
  accesses_.push_back(std::move(access));
  return &accesses_.back();
}

Result<const Node*> Evaluator::compile(const Expr& e) {
  sources_.push_back(e);
  return compile_node(e);
}

Status Evaluator::compile_children(Node& node, const Expr* a, const Expr* b, const Expr* c) {
  const Expr* children[] = {a, b, c};
  const Node** places[] = {&node.a, &node.b, &node.c};
  for (int i = 0; i < 3; ++i) {
    if (!children[i]) continue;
    ATTUNE_ASSIGN(*places[i], compile_node(*children[i]));
  }
  if (a) node.operand = a->type().element();
  return {};
}

Result<Node> Evaluator::compile_math(const Math& x, const Expr& e) {
  Node node;
  const auto arg = [&](std::size_t i) { return i < x.args.size() ? &x.args[i] : nullptr; };
  ATTUNE_RETURN_IF_ERROR(compile_children(node, arg(0), arg(1), arg(2)));
  node.function = math_function(x.fn, node.operand);
  node.real = real_function(x.fn);
  const std::size_t count = x.fn == MathFn::Fma ? 3 : (x.fn == MathFn::Pow ? 2 : 1);
  if (!node.function || x.args.size() != count) {
    return invalid(fmt::format("'{}' is not defined: {} of {} arguments of type {}", to_string(e),
                               to_string(x.fn), x.args.size(), to_string(node.operand)));
  }
  return node;
}

Result<Node> Evaluator::compile_opaque(const Opaque& x, const Expr& e) {
  const IntrinsicDecl* decl = find_intrinsic(x.name);
  if (!decl) return invalid(fmt::format("intrinsic '{}' is not declared", x.name));
  if (!decl->no_effect && x.name != kWorker) {
    return unsupported(fmt::format("the interpreter does not know '{}'", to_string(e)));
  }
  // Hints have no effect, and loops run on worker 0.
  Node node;
  node.function = run_constant;
  return node;
}

Status Evaluator::compile_variable(Node& node, const Var& x) {
  node.function = run_variable;
  // The innermost of the name.
  auto found = scope_.rbegin();
  while (found != scope_.rend() && found->first != x.name) ++found;
  if (found == scope_.rend()) return invalid(fmt::format("variable '{}' is not defined", x.name));
  node.slot = found->second;
  return {};
}

Status Evaluator::compile_reduce(Node& node, const VectorReduce& x, DType type) {
  node.function = run_reduce;
  node.lanes = x.value.type().lanes;
  node.slot = push_variable("reduce.left");
  push_variable("reduce.right");
  const Expr step = binary(x.op, var("reduce.left", type), var("reduce.right", type));
  sources_.push_back(step);
  Status status = compile_children(node, &x.value, &step, nullptr);
  pop_variable();
  pop_variable();
  return status;
}

Result<const Node*> Evaluator::compile_node(const Expr& e) {
  Node node;
  Status status;
  std::visit(Match{
                 [&](const IntImm& x) { node.function = run_constant, node.constant.i = x.value; },
                 [&](const FloatImm& x) {
                   node.function = run_constant;
                   node.constant.f = round_to(e.type(), x.value);
                 },
                 [&](const Var& x) { status = compile_variable(node, x); },
                 [&](const Binary& x) {
                   status = compile_children(node, &x.lhs, &x.rhs, nullptr);
                   node.function = binary_function(x.op, x.lhs.type().element());
                 },
                 [&](const Math& x) {
                   auto compiled = compile_math(x, e);
                   compiled.ok() ? void(node = *compiled) : void(status = compiled.error());
                 },
                 [&](const Select& x) {
                   node.function = run_select;
                   status = compile_children(node, &x.condition, &x.if_true, &x.if_false);
                 },
                 [&](const Cast& x) {
                   node.function = run_cast;
                   status = compile_children(node, &x.value, nullptr, nullptr);
                 },
                 [&](const Load& x) {
                   node.function = run_load;
                   auto access = compile_access(x.buffer, x.index);
                   access.ok() ? void(node.access = *access) : void(status = access.error());
                 },
                 [&](const Ramp& x) {
                   node.function = run_ramp;
                   status = compile_children(node, &x.base, &x.stride, nullptr);
                 },
                 [&](const Broadcast& x) {
                   node.function = run_broadcast;
                   status = compile_children(node, &x.value, nullptr, nullptr);
                 },
                 [&](const VectorReduce& x) { status = compile_reduce(node, x, e.type()); },
                 [&](const Opaque& x) {
                   auto compiled = compile_opaque(x, e);
                   compiled.ok() ? void(node = *compiled) : void(status = compiled.error());
                 },
             },
             e->kind);
  if (!status.ok()) return status.error();
  node.type = e.type().element();
  node.source = &*e;
  nodes_.push_back(node);
  return &nodes_.back();
}

}  // namespace attune::ir
