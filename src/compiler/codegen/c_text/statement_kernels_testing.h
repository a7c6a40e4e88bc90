// Test support: kernels with every access of memory and every statement, for those who write
// kernels as text.
#pragma once

#include "compiler/codegen/c_text/operator_kernels_testing.h"
#include "compiler/ir/nodes/intrinsics.h"

namespace attune::c_text {

// Loads whose lanes are apart, in any order, or allowed in some lanes only.
inline std::vector<Kernel> access_kernels() {
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
  return kernels;
}

inline std::vector<Kernel> statement_kernels() {
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
  return kernels;
}

// The same kernels, each with its outermost loop over threads, where that has a constant length.
inline std::vector<Kernel> on_threads(std::vector<Kernel> kernels) {
  for (Kernel& kernel : kernels) {
    const auto* loop = as<For>(kernel.body);
    if (!loop || !as_int(loop->extent)) continue;
    For bound = *loop;
    bound.kind = LoopKind::Bound;
    bound.axis = "thread.x";
    kernel.body = make_stmt(std::move(bound));
  }
  return kernels;
}

}  // namespace attune::c_text
