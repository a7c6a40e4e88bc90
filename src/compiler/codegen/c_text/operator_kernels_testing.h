// Test support: kernels with every operator, function and type that expressions may have, and
// values to run them on, for those who write kernels as text.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "compiler/ir/nodes/array.h"
#include "compiler/ir/nodes/stmt.h"

namespace attune::c_text {

using namespace ir;

inline constexpr std::int64_t kCount = 48;  // elements of every array; a multiple of all lanes
inline const std::vector<DType> kInts{kI8, kI16, kI32, kI64, kU8, kU16, kU32, kU64};
inline const std::vector<DType> kFloats{kF32, kF64, kF16, kBF16};
// Three lanes are no vector of any compiler.
inline const std::vector<int> kLanes{1, 3, 8};
inline bool is_tried(DType type, int lanes) { return lanes != 3 || type == kF32 || type == kI64; }

// Values where something may go wrong first, then small ones.
inline Array interesting(DType type, int salt) {
  static constexpr double special[] = {0.0,  -0.0,  1.0,   -1.0,     0.5,
                                       -2.5, 3.5,   127.0, 128.0,    -40000.25,
                                       1e10, -1e19, 3e38,  HUGE_VAL, -HUGE_VAL};
  Array array(type, {kCount});
  for (std::int64_t i = 0; i < kCount; ++i) {
    const std::int64_t at = (i * (salt == 0 ? 1 : 5) + salt) % kCount;
    if (type.is_float()) {
      array.set_real(i, at < 15 ? special[at] : at == 15 ? NAN : (double(at) - 30) * 0.37);
    } else if (type.is_bool()) {
      array.set_int(i, at % 3 == 0);
    } else {
      const std::int64_t least =
          type.kind == TypeKind::UInt ? 0 : std::int64_t(1) << (type.bits - 1);
      array.set_int(i, at == 0 ? least : at == 1 ? -1 : at - 20);
    }
  }
  return array;
}

// out = f(a, b), `lanes` at a time.
using Function = std::function<Expr(const Expr& a, const Expr& b)>;
inline Kernel elementwise(const std::string& name, DType in, int lanes, const Function& f) {
  const Buffer a = make_buffer("a", in, {kCount}), b = make_buffer("b", in, {kCount});
  const Expr first = var("i") * Expr(lanes);
  const Expr at = lanes == 1 ? first : ramp(first, Expr(1), lanes);
  const Expr value = f(load(a, {at}), load(b, {at}));
  const Buffer out = make_buffer("out", value.type().element(), {kCount});
  return {name, {a, b, out}, for_loop("i", 0, kCount / lanes, store(out, {at}, value)), 0};
}

inline bool agree(DType type, double want, double have) {
  if (want == have || (std::isnan(want) && std::isnan(have))) return true;
  const double tolerance = type == kF64 ? 1e-12 : type.bits == 16 ? 1e-2 : 2e-6;
  return type.is_float() && std::abs(want - have) <= tolerance * std::max(std::abs(want), 1e-30);
}

inline std::string name_of(std::size_t number) { return "k" + std::to_string(number); }

inline std::vector<Kernel> arithmetic_kernels() {
  std::vector<Kernel> kernels;
  for (const int lanes : kLanes) {
    for (const auto* types : {&kInts, &kFloats}) {
      for (const DType type : *types) {
        for (int op = 0; op <= static_cast<int>(BinOp::Ge) && is_tried(type, lanes); ++op) {
          // The interpreter refuses divisors of zero, which the arrays hold: see the next test. It
          // computes remainders of floats in f64.
          const bool divides =
              op == static_cast<int>(BinOp::Div) || op == static_cast<int>(BinOp::Mod);
          if (divides && (type.is_int() || op == static_cast<int>(BinOp::Mod))) continue;
          kernels.push_back(elementwise(
              name_of(kernels.size()), type, lanes,
              [&](const Expr& a, const Expr& b) { return binary(static_cast<BinOp>(op), a, b); }));
        }
      }
    }
  }
  return kernels;
}

inline std::vector<Kernel> division_kernels() {
  std::vector<Kernel> kernels;
  for (const int lanes : kLanes) {
    for (const DType type : kInts) {
      if (!is_tried(type, lanes)) continue;
      for (const std::int64_t divisor : {1, 3, 8, -1, -3}) {
        if (type.kind == TypeKind::UInt && divisor < 0) continue;
        const Expr by = int_imm(divisor, type);
        for (const BinOp op : {BinOp::Div, BinOp::Mod}) {
          kernels.push_back(
              elementwise(name_of(kernels.size()), type, lanes, [&](const Expr& a, const Expr&) {
                return binary(op, a, lanes == 1 ? by : broadcast(by, lanes));
              }));
        }
      }
    }
  }
  return kernels;
}

inline std::vector<Kernel> bit_kernels() {
  std::vector<Kernel> kernels;
  for (const int lanes : kLanes) {
    for (const DType type : kInts) {
      if (!is_tried(type, lanes)) continue;
      for (const BinOp op : {BinOp::BitAnd, BinOp::BitOr, BinOp::BitXor, BinOp::Shl, BinOp::Shr}) {
        kernels.push_back(
            elementwise(name_of(kernels.size()), type, lanes,
                        [&](const Expr& a, const Expr& b) { return binary(op, a, b); }));
      }
      for (const MathFn fn : {MathFn::Neg, MathFn::BitNot, MathFn::Abs, MathFn::Sign}) {
        kernels.push_back(elementwise(name_of(kernels.size()), type, lanes,
                                      [&](const Expr& a, const Expr&) { return math(fn, {a}); }));
      }
    }
  }
  return kernels;
}

inline std::vector<Kernel> function_kernels() {
  std::vector<Kernel> kernels;
  for (const int lanes : {1, 3, 8}) {
    for (const DType type : {kF32, kF64}) {
      for (int fn = 0; fn < static_cast<int>(MathFn::Bitcast); ++fn) {
        const auto which = static_cast<MathFn>(fn);
        if (which == MathFn::Not || which == MathFn::BitNot) continue;
        kernels.push_back(
            elementwise(name_of(kernels.size()), type, lanes, [&](const Expr& a, const Expr& b) {
              std::vector<Expr> args{a};
              if (which == MathFn::Pow || which == MathFn::Fma) args.push_back(b);
              if (which == MathFn::Fma) args.push_back(b);
              return math(which, args);
            }));
      }
    }
  }
  return kernels;
}

inline std::vector<Kernel> cast_kernels() {
  std::vector<DType> all = kInts;
  all.insert(all.end(), kFloats.begin(), kFloats.end());
  all.push_back(kBool);
  std::vector<Kernel> kernels;
  for (const int lanes : kLanes) {
    for (const DType from : all) {
      for (const DType to : all) {
        if (!is_tried(from, lanes)) continue;
        kernels.push_back(
            elementwise(name_of(kernels.size()), from, lanes,
                        [&](const Expr& a, const Expr&) { return cast(to.with_lanes(lanes), a); }));
        if (from.bits != to.bits || from == to || from.is_bool()) continue;
        kernels.push_back(elementwise(
            name_of(kernels.size()), from, lanes,
            [&](const Expr& a, const Expr&) { return bitcast(to.with_lanes(lanes), a); }));
      }
    }
  }
  return kernels;
}

inline std::vector<Kernel> truth_value_kernels() {
  std::vector<Kernel> kernels;
  for (const int lanes : kLanes) {
    for (const DType type : {kF32, kI64, kU8, kF64}) {
      kernels.push_back(
          elementwise(name_of(kernels.size()), type, lanes, [&](const Expr& a, const Expr& b) {
            const Expr less = a < b, same = a == b;
            const Expr wide = cast(kI64.with_lanes(lanes), a) > cast(kI64.with_lanes(lanes), b);
            const Expr mixed = (less || math(MathFn::Not, {same})) && wide;
            return select(mixed || same, a, select(less, b, a));
          }));
    }
    for (const BinOp op : {BinOp::And, BinOp::Or}) {
      kernels.push_back(elementwise(
          name_of(kernels.size()), kBool, lanes,
          [&](const Expr& a, const Expr& b) { return binary(op, a, math(MathFn::Not, {b})); }));
    }
    kernels.push_back(elementwise(
        name_of(kernels.size()), kBool, lanes,
        [&](const Expr& a, const Expr& b) { return select(a, b, math(MathFn::Not, {b})); }));
  }
  return kernels;
}

}  // namespace attune::c_text
