#include "targets/c/codegen/kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <thread>

#include "compiler/ir/interpret/interpret.h"
#include "compiler/ir/nodes/intrinsics.h"
#include "compiler/ir/text/print.h"
#include "targets/c/codegen/compiled_c_testing.h"

namespace attune::c {
namespace {

using namespace ir;

constexpr std::int64_t kCount = 48;  // elements of every array; a multiple of all lanes
const std::vector<DType> kInts{kI8, kI16, kI32, kI64, kU8, kU16, kU32, kU64};
const std::vector<DType> kFloats{kF32, kF64, kF16, kBF16};
// Three lanes are no vector of any compiler.
const std::vector<int> kLanes{1, 3, 8};
bool is_tried(DType type, int lanes) { return lanes != 3 || type == kF32 || type == kI64; }

// Values where something may go wrong first, then small ones.
Array interesting(DType type, int salt) {
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
Kernel elementwise(const std::string& name, DType in, int lanes, const Function& f) {
  const Buffer a = make_buffer("a", in, {kCount}), b = make_buffer("b", in, {kCount});
  const Expr first = var("i") * Expr(lanes);
  const Expr at = lanes == 1 ? first : ramp(first, Expr(1), lanes);
  const Expr value = f(load(a, {at}), load(b, {at}));
  const Buffer out = make_buffer("out", value.type().element(), {kCount});
  return {name, {a, b, out}, for_loop("i", 0, kCount / lanes, store(out, {at}, value)), 0};
}

bool agree(DType type, double want, double have) {
  if (want == have || (std::isnan(want) && std::isnan(have))) return true;
  const double tolerance = type == kF64 ? 1e-12 : type.bits == 16 ? 1e-2 : 2e-6;
  return type.is_float() && std::abs(want - have) <= tolerance * std::max(std::abs(want), 1e-30);
}

// Runs every kernel by the interpreter and as C: with vectors, stopping at what C leaves undefined,
// and without.
void expect_agreement(const std::vector<Kernel>& kernels) {
  for (const std::string flags :
       {"-O0 -fsanitize=undefined -fsanitize-undefined-trap-on-error", "-O0 -DATTUNE_PORTABLE"}) {
    const CompiledC compiled(kernels, flags);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      std::vector<Array> arrays;
      for (const Buffer& buffer : kernels[k].params) {
        arrays.push_back(interesting(buffer->type, static_cast<int>(arrays.size()) * 7));
      }
      std::vector<Array> expected = arrays;
      const Status interpreted = interpret(kernels[k], expected);
      ASSERT_TRUE(interpreted.ok()) << interpreted.error().message << to_string(kernels[k]);
      const std::vector<Array> got = compiled.run(k, arrays);
      const Array &want = expected.back(), &have = got.back();
      for (std::int64_t i = 0; i < want.count(); ++i) {
        const bool same = want.type.is_float() ? agree(want.type, want.real(i), have.real(i))
                                               : want.integer(i) == have.integer(i);
        ASSERT_TRUE(same) << flags << "\n"
                          << to_string(kernels[k]) << "element " << i << " is " << have.real(i)
                          << ", not " << want.real(i) << " of " << arrays[0].real(i) << " and "
                          << arrays[1].real(i);
      }
    }
  }
}

std::string name_of(std::size_t number) { return "k" + std::to_string(number); }

TEST(PrintC, ArithmeticAndComparisons) {
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
  expect_agreement(kernels);
}

TEST(PrintC, DivisionRoundsDown) {
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
  expect_agreement(kernels);
}

TEST(PrintC, BitsAndShifts) {
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
  expect_agreement(kernels);
}

TEST(PrintC, Functions) {
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
  expect_agreement(kernels);
}

TEST(PrintC, CastsAndBits) {
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
  expect_agreement(kernels);
}

TEST(PrintC, TruthValues) {
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
  expect_agreement(kernels);
}

// Loads whose lanes are apart, in any order, or allowed in some lanes only.
TEST(PrintC, MemoryAccess) {
  std::vector<Kernel> kernels;
  const auto add =
      [&](const std::function<Stmt(const Buffer&, const Buffer&, const Buffer&)>& body) {
        const Buffer a = make_buffer("a", kF32, {kCount}), b = make_buffer("b", kI64, {kCount}),
                     out = make_buffer("out", kF32, {kCount});
        kernels.push_back({name_of(kernels.size()), {a, b, out}, body(a, b, out), 0});
      };
  const Expr i = var("i");
  for (const int lanes : {3, 4, 8}) {
    for (const int stride : {-1, 0, 1, 2, 5}) {
      add([&](const Buffer& a, const Buffer&, const Buffer& out) {
        const Expr from = ramp(i + Expr(stride < 0 ? 7 : 0), Expr(stride), lanes);
        return for_loop("i", 0, 4,
                        store(out, {ramp(i * Expr(lanes), Expr(1), lanes)}, load(a, {from})));
      });
      if (stride == 0) continue;
      add([&](const Buffer& a, const Buffer&, const Buffer& out) {
        const Expr to = ramp(i + Expr(stride < 0 ? 7 : 0), Expr(stride), lanes);
        return for_loop("i", 0, 4, store(out, {to}, load(a, {ramp(i, Expr(1), lanes)})));
      });
    }
    add([&](const Buffer& a, const Buffer& b, const Buffer& out) {
      const Expr lane = ramp(i * Expr(lanes), Expr(1), lanes);
      const Expr place = load(b, {lane}) % broadcast(Expr(kCount), lanes);
      return for_loop("i", 0, 6 / 2, store(out, {place}, load(a, {place})));
    });
    // Lanes outside of the buffer must not be touched.
    for (const int stride : {1, 2}) {
      add([&](const Buffer& a, const Buffer&, const Buffer& out) {
        const Expr at = ramp((i - Expr(2)) * Expr(lanes), Expr(stride), lanes);
        const Expr inside = at >= broadcast(Expr(0), lanes) && at < broadcast(Expr(kCount), lanes);
        const Expr value = select(inside, load(a, {at}), broadcast(float_imm(7), lanes));
        return for_loop("i", 0, 3, store(out, {ramp(i * Expr(lanes), Expr(1), lanes)}, value));
      });
    }
    add([&](const Buffer& a, const Buffer&, const Buffer& out) {
      const Expr lane = ramp(i * Expr(lanes), Expr(1), lanes);
      const Expr guarded =
          select(broadcast(i > Expr(1), lanes), load(a, {lane - broadcast(Expr(2 * lanes), lanes)}),
                 broadcast(float_imm(3), lanes));
      return for_loop("i", 0, 5, store(out, {lane}, guarded));
    });
    // A buffer that is read where it is written, shifted by one lane.
    add([&](const Buffer&, const Buffer&, const Buffer& out) {
      return store(out, {ramp(Expr(1), Expr(1), lanes)},
                   load(out, {ramp(Expr(0), Expr(1), lanes)}));
    });
    for (const BinOp op : {BinOp::Add, BinOp::Mul, BinOp::Min, BinOp::Max}) {
      add([&](const Buffer& a, const Buffer&, const Buffer& out) {
        const Expr value = load(a, {ramp(i + Expr(20), Expr(1), lanes)});
        const Expr guarded = select(i > Expr(3), vector_reduce(op, value), float_imm(1));
        return for_loop("i", 0, 8, store(out, {i}, guarded));
      });
    }
  }
  expect_agreement(kernels);
}

TEST(PrintC, Statements) {
  const Buffer a = make_buffer("a", kF32, {kCount}), b = make_buffer("b", kF32, {kCount}),
               out = make_buffer("out", kF32, {kCount});
  const Expr i = var("i"), j = var("j");
  const auto kernel = [&](std::size_t number, const Stmt& body) {
    return Kernel{name_of(number), {a, b, out}, body, 0};
  };
  const Buffer tile = make_buffer("tile", kF32, {8}, Scope::Register);
  const Buffer stack = make_buffer("stack.0", kF32, {4}, Scope::Stack);
  const Buffer big = make_buffer("big", kF32, {kCount}, Scope::Global);
  const Expr lanes = ramp(Expr(0), Expr(1), 8);
  std::vector<Kernel> kernels;
  // Register tiles are variables; a variable may hide another; empty loops do nothing.
  kernels.push_back(kernel(
      0,
      for_loop(
          "i", 0, 6,
          allocate(
              tile, block({store(tile, {lanes}, broadcast(float_imm(0), 8)),
                           for_loop("j", i, 3,
                                    store(tile, {lanes},
                                          load(tile, {lanes}) + load(a, {ramp(j, Expr(1), 8)}) *
                                                                    broadcast(load(b, {j}), 8))),
                           store(out, {ramp(i * Expr(8), Expr(1), 8)}, load(tile, {lanes}))})))));
  kernels.push_back(
      kernel(1, for_loop("i", 0, 5,
                         let("i", i * Expr(2) + Expr(1),
                             if_then(i % Expr(3) == Expr(0), store(out, {i}, load(a, {i})),
                                     let("x", load(b, {i}), store(out, {i}, var("x", kF32))))))));
  kernels.push_back(
      kernel(2, for_loop("i", 2, min(Expr(9), Expr(40)) - Expr(9), store(out, {i}, load(a, {i})))));
  kernels.push_back(kernel(
      3, for_loop(
             "j", 3, 1,
             allocate(stack,
                      block({for_loop("i", 0, 4, store(stack, {i}, load(a, {i + j}))),
                             for_loop("i", 0, 4, store(out, {i}, load(stack, {Expr(3) - i})))})))));
  kernels.push_back(kernel(
      4,
      allocate(big,
               block({for_loop("i", 0, kCount, store(big, {i}, load(a, {i}))),
                      for_loop("i", 0, kCount, store(out, {i}, load(big, {Expr(kCount - 1) - i}))),
                      evaluate(opaque(std::string(kLaunder), kI32, {})),
                      evaluate(opaque(std::string(kPrefetch), kI32, {load(b, {Expr(3)}), Expr(3)})),
                      store(out, {Expr(1)}, load(a, {Expr(1)}) + load(b, {Expr(2)}))}))));
  // A value that is used twice in one expression.
  const Expr sum = load(a, {i}) + load(b, {i});
  kernels.push_back(
      kernel(5, for_loop("i", 16, 8, store(out, {i}, sum * math(MathFn::Sigmoid, {sum})))));
  expect_agreement(kernels);
}

// Serial or by the caller's threads, with memory of each worker's own: the same result.
TEST(PrintC, ParallelLoops) {
  const Buffer a = make_buffer("a", kF32, {kCount}), out = make_buffer("out", kF32, {kCount});
  const Buffer own = make_buffer("own", kF32, {4}, Scope::Global);
  const Expr i = var("i"), j = var("j"), n = var("n");
  const Stmt body = allocate(
      own, block({for_loop("j", 0, 4, store(own, {j}, load(a, {i * Expr(4) + j}) + cast(kF32, n))),
                  for_loop("j", 0, 4, store(out, {i * Expr(4) + j}, load(own, {Expr(3) - j})))}));
  const Kernel sliced{
      "sliced", {a, out}, let("n", Expr(5), for_loop("i", 0, 12, body, LoopKind::Parallel)), 0};
  const Kernel plain{
      "plain",
      {a, out},
      for_loop("i", 1, kCount - 1, store(out, {i}, load(a, {i - Expr(1)})), LoopKind::Parallel),
      0};
  struct Parallel {
    void* pool;
    void (*run)(void*, std::int64_t, void (*)(void*, std::int64_t, std::int64_t, std::int32_t),
                void*);
  };
  const Parallel threads{nullptr, [](void*, std::int64_t count, auto task, void* closure) {
                           const std::int64_t half = count / 2;
                           std::thread other([&] { task(closure, 0, half, 1); });
                           task(closure, half, count, 0);
                           other.join();
                         }};
  const CompiledC compiled({sliced, plain}, "-O2", "cc", 3);
  for (const std::size_t k : {0u, 1u}) {
    std::vector<Array> expected{Array(kF32, {kCount}), Array(kF32, {kCount})};
    for (std::int64_t at = 0; at < kCount; ++at) expected[0].set_real(at, double(at * at));
    const std::vector<Array> arrays = expected;
    ASSERT_TRUE(interpret(k == 0 ? sliced : plain, expected).ok());
    EXPECT_EQ(compiled.run(k, arrays)[1].data, expected[1].data);
    EXPECT_EQ(compiled.run(k, arrays, &threads)[1].data, expected[1].data);
  }
}

TEST(PrintC, RefusesWhatIsNotLowered) {
  const Buffer out = make_buffer("out", kF32, {4});
  const Stmt body = store(out, {var("i")}, float_imm(0));
  const Kernel kernel{"k", {out}, for_loop("i", 0, 4, body, LoopKind::Vectorized), 0};
  const auto printed = print_kernel(kernel, {.prefix = "t"});
  ASSERT_FALSE(printed.ok());
  EXPECT_EQ(printed.error().message,
            "kernel 'k' cannot be written as C: loop 'i' is still marked vectorized or unrolled");
}

}  // namespace
}  // namespace attune::c
