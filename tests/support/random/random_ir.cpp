#include "tests/support/random/random_ir.h"

#include <cmath>

#include "compiler/ir/nodes/intrinsics.h"

namespace attune::test {

using namespace ir;

const std::vector<Variable>& RandomIr::make_variables() {
  static constexpr const char* names[] = {"x", "y", "z", "w"};
  const auto count = 1 + rng_.below(4);
  for (std::uint64_t v = 0; v < count; ++v) {
    const std::int64_t low = rng_.chance(0.6) ? 0 : rng_.between(-20, 20);
    variables_.push_back({names[v], {low, low + rng_.between(0, 20)}});
  }
  return variables_;
}

Ranges RandomIr::ranges() const {
  Ranges ranges;
  for (const Variable& v : variables_) ranges = ranges.with(v.name, v.interval);
  return ranges;
}

std::vector<std::int64_t> RandomIr::point() {
  std::vector<std::int64_t> values;
  for (const Variable& v : variables_) {
    values.push_back(rng_.between(v.interval.low, v.interval.high));
  }
  return values;
}

std::int64_t RandomIr::divisor() {
  static constexpr std::int64_t usual[] = {2, 3, 4, 6, 8, 12, 16, 48};
  const std::int64_t d = usual[rng_.below(8)];
  return rng_.chance(0.1) ? -d : d;
}

Expr RandomIr::leaf() {
  if (variables_.empty() || rng_.chance(0.3)) return Expr(rng_.between(-9, 17));
  return var(variables_[rng_.below(variables_.size())].name);
}

Expr RandomIr::index(int depth) {
  if (depth <= 0) return leaf();
  switch (rng_.below(14)) {
    case 0:
    case 1:
    case 2:
      return index(depth - 1) + index(depth - 1);
    case 3:
      return index(depth - 1) - index(depth - 1);
    case 4:
    case 5:
      return index(depth - 1) * Expr(rng_.chance(0.2) ? -divisor() : divisor());
    case 6:
      return index(depth - 1) * leaf();
    case 7:
    case 8:
      return index(depth - 1) / Expr(divisor());
    case 9:
    case 10:
      return index(depth - 1) % Expr(divisor());
    case 11:
      return rng_.chance(0.5) ? min(index(depth - 1), index(depth - 1))
                              : max(index(depth - 1), index(depth - 1));
    case 12:
      return select(condition(depth - 1), index(depth - 1), index(depth - 1));
    default:
      if (rng_.chance(0.3)) return math(MathFn::Neg, {index(depth - 1)});
      if (rng_.chance(0.3)) return math(MathFn::Abs, {index(depth - 1)});
      if (rng_.chance(0.5)) {
        const BinOp shift = rng_.chance(0.5) ? BinOp::Shl : BinOp::Shr;
        return binary(shift, index(depth - 1), Expr(rng_.between(0, 4)));
      }
      return cast(kIndex, cast(kI32, index(depth - 1)));
  }
}

Expr RandomIr::condition(int depth) {
  if (depth > 1 && rng_.chance(0.3)) {
    if (rng_.chance(0.2)) return math(MathFn::Not, {condition(depth - 1)});
    const Expr a = condition(depth - 1), b = condition(depth - 1);
    return rng_.chance(0.5) ? a && b : a || b;
  }
  const auto op = static_cast<BinOp>(static_cast<std::uint64_t>(BinOp::Eq) + rng_.below(6));
  return binary(op, index(depth - 1), index(depth - 1));
}

Expr RandomIr::vector_index(int depth, int lanes) {
  if (depth <= 0 || rng_.chance(0.2)) {
    if (rng_.chance(0.3)) return broadcast(index(depth), lanes);
    return ramp(index(depth), Expr(rng_.between(-2, 4)), lanes);
  }
  const auto constant = [&] { return broadcast(Expr(divisor()), lanes); };
  switch (rng_.below(6)) {
    case 0:
      return vector_index(depth - 1, lanes) / constant();
    case 1:
      return vector_index(depth - 1, lanes) % constant();
    case 2:
      return vector_index(depth - 1, lanes) * constant();
    case 3:
      return min(vector_index(depth - 1, lanes), vector_index(depth - 1, lanes));
    case 4:
      return select(vector_condition(depth - 1, lanes), vector_index(depth - 1, lanes),
                    vector_index(depth - 1, lanes));
    default:
      return binary(rng_.chance(0.5) ? BinOp::Add : BinOp::Sub, vector_index(depth - 1, lanes),
                    vector_index(depth - 1, lanes));
  }
}

Expr RandomIr::vector_condition(int depth, int lanes) {
  if (depth > 1 && rng_.chance(0.2)) {
    const Expr a = vector_condition(depth - 1, lanes), b = vector_condition(depth - 1, lanes);
    return rng_.chance(0.5) ? a && b : a || b;
  }
  const auto op = static_cast<BinOp>(static_cast<std::uint64_t>(BinOp::Eq) + rng_.below(6));
  return binary(op, vector_index(depth - 1, lanes), vector_index(depth - 1, lanes));
}

std::string RandomIr::fresh_name() { return "v" + std::to_string(names_++); }

Expr RandomIr::wrapped_index(int depth, std::int64_t extent) { return index(depth) % extent; }

Stmt RandomIr::nest(int depth, const Buffer& from, const Buffer& to) {
  if (depth <= 0) {
    const Expr value = load(from, {wrapped_index(2, from->shape[0])});
    const Expr guarded = select(condition(2), value, value * float_imm(2) + float_imm(1));
    return store(to, {wrapped_index(2, to->shape[0])}, guarded);
  }
  switch (rng_.below(6)) {
    case 0:
      return if_then(condition(2), nest(depth - 1, from, to),
                     rng_.chance(0.5) ? nest(depth - 1, from, to) : Stmt());
    case 1:
      return block({nest(depth - 1, from, to), nest(depth - 1, from, to)});
    case 2: {
      const Buffer t = make_buffer(fresh_name(), kF32, {4}, Scope::Stack);
      std::vector<Stmt> stmts;
      for (int i = 0; i < 4; ++i) stmts.push_back(store(t, {i}, float_imm(i)));
      stmts.push_back(nest(depth - 1, t, to));
      return allocate(t, block(std::move(stmts)));
    }
    case 3: {
      const std::string name = fresh_name();
      const Expr value = index(2);
      variables_.push_back({name, {-50, 50}});
      Stmt body = nest(depth - 1, from, to);
      variables_.pop_back();
      return let(name, value, body);
    }
    default: {
      const std::string name = fresh_name();
      const Expr min = rng_.chance(0.6) ? Expr(0) : index(1);
      const std::int64_t most = rng_.between(0, 5);
      const Expr extent = rng_.chance(0.7) ? Expr(most) : ir::min(index(1), Expr(most));
      variables_.push_back({name, {}});
      Stmt body = nest(depth - 1, from, to);
      variables_.pop_back();
      return for_loop(name, min, extent, body);
    }
  }
}

Kernel RandomIr::kernel(int depth) {
  const Buffer a = make_buffer("A", kF32, {16}), b = make_buffer("B", kF32, {16});
  variables_.clear();
  return {"random", {a, b}, nest(depth, a, b), 0};
}

Buffer RandomIr::known_buffer(const std::string& name, DType type,
                              std::vector<std::int64_t> shape) {
  for (const Buffer& known : buffers_) {
    if (known->name == name) return known;
  }
  buffers_.push_back(make_buffer(name, type, std::move(shape)));
  return buffers_.back();
}

Expr RandomIr::any_leaf(DType type) {
  const DType element = type.element();
  if (rng_.chance(0.4)) return var(rng_.chance(0.2) ? "odd name" : fresh_name(), type);
  Expr scalar;
  if (element.is_float()) {
    static constexpr double special[] = {0.0, -0.0, 1e300, 1e-30, 0.1, HUGE_VAL, -HUGE_VAL};
    scalar =
        float_imm(rng_.chance(0.5) ? special[rng_.below(7)] : rng_.uniform() * 100 - 50, element);
  } else {
    scalar =
        element.is_bool() ? bool_imm(rng_.chance(0.5)) : int_imm(rng_.between(-99, 99), element);
  }
  return type.is_scalar() ? scalar : broadcast(scalar, type.lanes);
}

Expr RandomIr::any_bool(int depth, int lanes) {
  const DType type = kBool.with_lanes(lanes);
  static constexpr DType operands[] = {kF32, kI64, kI32, kF16, kU8};
  const DType operand = operands[rng_.below(5)].with_lanes(lanes);
  switch (rng_.below(3)) {
    case 0:
      return binary(rng_.chance(0.5) ? BinOp::And : BinOp::Or, anything(type, depth - 1),
                    anything(type, depth - 1));
    case 1:
      return math(MathFn::Not, {anything(type, depth - 1)});
    default:
      return binary(static_cast<BinOp>(static_cast<std::uint64_t>(BinOp::Eq) + rng_.below(6)),
                    anything(operand, depth - 1), anything(operand, depth - 1));
  }
}

Expr RandomIr::anything(DType type, int depth) {
  if (depth <= 0) return any_leaf(type);
  const int lanes = type.lanes;
  if (type.is_bool() && rng_.chance(0.7)) return any_bool(depth, lanes);
  const auto again = [&] { return anything(type, depth - 1); };
  switch (rng_.below(10)) {
    case 0:
      return select(anything(kBool.with_lanes(lanes), depth - 1), again(), again());
    case 1: {
      static constexpr DType others[] = {kF32, kI64, kI32, kBF16, kBool};
      return cast(type, anything(others[rng_.below(5)].with_lanes(lanes), depth - 1));
    }
    case 2: {
      const DType element = type.element();
      const Buffer b = known_buffer("buf" + to_string(element), element, {8, 8});
      const Expr first = anything(kIndex.with_lanes(lanes), depth - 1);
      return load(b, {first, anything(kIndex, depth - 1)});
    }
    case 3:
      if (lanes > 1) return broadcast(anything(type.element(), depth - 1), lanes);
      return vector_reduce(BinOp::Max, anything(type.with_lanes(4), depth - 1));
    case 4:
      if (lanes > 1 && !type.is_bool()) {
        const Expr base = anything(type.element(), depth - 1);
        return ramp(base, anything(type.element(), depth - 1), lanes);
      }
      return opaque("worker", type, {});
    case 5:
      if (type.is_float()) return math(MathFn::Fma, {again(), again(), again()});
      if (type.bits == 32) return bitcast(type, anything(kF32.with_lanes(lanes), depth - 1));
      return math(MathFn::Neg, {again()});
    case 6:
      if (!type.is_float() && !type.is_bool()) {
        static constexpr BinOp bits[] = {BinOp::BitAnd, BinOp::BitOr, BinOp::BitXor, BinOp::Shl,
                                         BinOp::Shr};
        return binary(bits[rng_.below(5)], again(), again());
      }
      return math(type.is_bool() ? MathFn::Not : MathFn::Sqrt, {again()});
    default:
      if (type.is_bool()) return any_bool(depth, lanes);
      return binary(static_cast<BinOp>(rng_.below(7)), again(), again());
  }
}

Stmt RandomIr::any_stmt(int depth) {
  if (depth <= 0) {
    if (rng_.chance(0.2)) return make_stmt(Barrier{static_cast<Scope>(rng_.below(6))});
    if (rng_.chance(0.2)) {
      return evaluate(opaque(std::string(kPrefetch), kI32, {anything(kF32, 2), Expr(3)}));
    }
    const Expr value = anything(rng_.chance(0.5) ? kF32 : kF32.with_lanes(8), 3);
    const Expr place = anything(kIndex, 2);
    return store(known_buffer("out", kF32, {64}), {place}, value);
  }
  switch (rng_.below(5)) {
    case 0:
      return if_then(anything(kBool, 2), any_stmt(depth - 1),
                     rng_.chance(0.5) ? any_stmt(depth - 1) : Stmt());
    case 1: {
      std::vector<Stmt> stmts;
      for (std::uint64_t i = rng_.below(4); i > 0; --i) stmts.push_back(any_stmt(depth - 1));
      return make_stmt(Block{std::move(stmts)});
    }
    case 2: {
      const auto scope = static_cast<Scope>(rng_.below(6));
      return allocate(make_buffer(fresh_name(), kI8, {3, 4}, scope), any_stmt(depth - 1));
    }
    case 3:
      return let(fresh_name(), anything(rng_.chance(0.5) ? kF32 : kIndex, 2), any_stmt(depth - 1));
    default: {
      For loop{fresh_name(),
               rng_.chance(0.5) ? Expr(0) : index(2),
               index(2),
               static_cast<LoopKind>(rng_.below(5)),
               {},
               {},
               any_stmt(depth - 1)};
      if (loop.kind == LoopKind::Bound) loop.axis = "thread.x";
      if (rng_.chance(0.3)) loop.notes = {{"unroll", "4"}, {"hint", "it's \\ \"odd\""}};
      return make_stmt(std::move(loop));
    }
  }
}

Kernel stores_of(const std::vector<Variable>& variables, const std::vector<Expr>& values,
                 int rows) {
  const auto count = static_cast<std::int64_t>(variables.size());
  const Buffer points = make_buffer("points", kI64, {rows * count});
  std::vector<Buffer> params{points};
  std::vector<Stmt> stores;
  const Expr row = var("row");
  for (const Expr& value : values) {
    const int lanes = value.type().lanes;
    params.push_back(
        make_buffer("out" + std::to_string(params.size()), value.type().element(), {rows * lanes}));
    const Expr first = row * Expr(lanes);
    stores.push_back(
        store(params.back(), {lanes == 1 ? first : ramp(first, Expr(1), lanes)}, value));
  }
  Stmt body = block(stores);
  for (std::int64_t v = 0; v < count; ++v) {
    body = let(variables[static_cast<std::size_t>(v)].name,
               load(points, {row * Expr(count) + Expr(v)}), body);
  }
  return {"expressions", params, for_loop("row", 0, rows, body), 0};
}

}  // namespace attune::test
