// bench_codegen [CPU]: what code generation costs and what its code reaches, on register-tiled
// kernels: an L1-resident GEMM tile and a 3x3 convolution (56 x 56, 64 channels) in several tiles.
// Columns: tile, mean milliseconds to compile and to link, vector spills, percent of the FMA peak
// measured in the same run.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "compiler/ir/nodes/intrinsics.h"
#include "compiler/kernel/kernel.h"
#include "runtime/execution/thread_pool.h"
#include "targets/cpu/device/kernel_module.h"
#include "targets/kinds.h"

namespace attune {
namespace {

using ir::Expr;
using ir::kF32;
using ir::Stmt;

struct Tile {
  int rows, vectors;
  bool hold_rows;  // keep the broadcast operand and stream the other
  bool launder = true;
};

struct Workload {
  ir::Kernel kernel;
  double flops;
};

Stmt launder() { return ir::evaluate(ir::opaque(std::string(ir::kLaunder), ir::kIndex, {})); }

// Calls f(row, vector) in the order that holds the smaller operand.
template <typename F>
void for_each(const Tile& tile, F f) {
  const int outer = tile.hold_rows ? tile.vectors : tile.rows;
  const int inner = tile.hold_rows ? tile.rows : tile.vectors;
  for (int a = 0; a < outer; ++a) {
    for (int b = 0; b < inner; ++b) tile.hold_rows ? f(b, a) : f(a, b);
  }
}

struct Accumulators {
  ir::Buffer buffer;
  int lanes, vectors;
  Expr place(int row, int vector) const {
    return ir::ramp(Expr((row * vectors + vector) * lanes), Expr(1), lanes);
  }
  Expr value(int row, int vector) const { return ir::load(buffer, {place(row, vector)}); }
  Stmt set(int row, int vector, Expr value_of) const {
    return ir::store(buffer, {place(row, vector)}, value_of);
  }
};

Accumulators accumulators(const Tile& tile, int lanes) {
  return {ir::make_buffer("acc", kF32, {tile.rows * tile.vectors * lanes}, ir::Scope::Register),
          lanes, tile.vectors};
}

Workload gemm(const Tile& tile, int lanes) {
  const std::int64_t depth = 128, n = tile.vectors * lanes, repeats = 200;
  const auto a = ir::make_buffer("a", kF32, {tile.rows * depth});
  const auto b = ir::make_buffer("b", kF32, {depth * n});
  const auto c = ir::make_buffer("c", kF32, {repeats * tile.rows * n});
  const Accumulators acc = accumulators(tile, lanes);
  std::vector<Stmt> init, update, finish;
  const Expr k = ir::var("k"), r = ir::var("repeat");
  for_each(tile, [&](int row, int v) {
    init.push_back(acc.set(row, v, ir::zero_of(kF32.with_lanes(lanes))));
    const Expr x = ir::broadcast(ir::load(a, {k * Expr(tile.rows) + Expr(row)}), lanes);
    const Expr y = ir::load(b, {ir::ramp(k * Expr(n) + Expr(v * lanes), Expr(1), lanes)});
    update.push_back(acc.set(row, v, acc.value(row, v) + x * y));
    const Expr at = r * Expr(tile.rows * n) + Expr((row * tile.vectors + v) * lanes);
    finish.push_back(ir::store(c, {ir::ramp(at, Expr(1), lanes)}, acc.value(row, v)));
  });
  Stmt body = ir::block(
      {ir::block(init), ir::for_loop("k", 0, depth, ir::block(update)), ir::block(finish)});
  return {{"gemm", {a, b, c}, ir::for_loop("repeat", 0, repeats, ir::allocate(acc.buffer, body))},
          2.0 * repeats * tile.rows * n * depth};
}

// Input [icb, h + 2, w + 2, lanes], weights [oc group, icb, kh, kw, ic, vectors * lanes].
Workload conv(const Tile& tile, int lanes) {
  const std::int64_t size = 56 / tile.rows * tile.rows, channels = 64, padded = size + 2;
  const std::int64_t blocks = channels / lanes,
                     groups = std::max<std::int64_t>(1, blocks / tile.vectors);
  const std::int64_t wide = tile.vectors * lanes;
  const auto x = ir::make_buffer("x", kF32, {blocks * padded * padded * lanes});
  const auto w = ir::make_buffer("w", kF32, {groups * blocks * 9 * lanes * wide});
  const auto y = ir::make_buffer("y", kF32, {groups * tile.vectors * size * size * lanes});
  const Accumulators acc = accumulators(tile, lanes);
  const Expr g = ir::var("g"), oh = ir::var("oh"), ow = ir::var("ow"), icb = ir::var("icb"),
             kh = ir::var("kh");
  std::vector<Stmt> init, update, finish;
  for (int kw = 0; kw < 3; ++kw) {
    if (tile.launder && kw > 0) update.push_back(launder());
    for (int ic = 0; ic < lanes; ++ic) {
      for_each(tile, [&](int row, int v) {
        const Expr pixel = ((icb * Expr(padded) + oh + kh) * Expr(padded) + ow * Expr(tile.rows) +
                            Expr(row + kw)) *
                               Expr(lanes) +
                           Expr(ic);
        const Expr weight =
            (((g * Expr(blocks) + icb) * Expr(3) + kh) * Expr(3) + Expr(kw)) * Expr(lanes * wide) +
            Expr(ic * wide + v * lanes);
        update.push_back(
            acc.set(row, v,
                    acc.value(row, v) + ir::broadcast(ir::load(x, {pixel}), lanes) *
                                            ir::load(w, {ir::ramp(weight, Expr(1), lanes)})));
      });
    }
  }
  for_each(tile, [&](int row, int v) {
    init.push_back(acc.set(row, v, ir::zero_of(kF32.with_lanes(lanes))));
    const Expr at = (((g * Expr(tile.vectors) + Expr(v)) * Expr(size) + oh) * Expr(size) +
                     ow * Expr(tile.rows) + Expr(row)) *
                    Expr(lanes);
    finish.push_back(ir::store(y, {ir::ramp(at, Expr(1), lanes)}, acc.value(row, v)));
  });
  Stmt taps = ir::for_loop("icb", 0, blocks, ir::for_loop("kh", 0, 3, ir::block(update)));
  Stmt body = ir::allocate(acc.buffer, ir::block({ir::block(init), taps, ir::block(finish)}));
  body = ir::for_loop("oh", 0, size, ir::for_loop("ow", 0, size / tile.rows, body));
  return {{"conv", {x, w, y}, ir::for_loop("g", 0, groups, body)},
          2.0 * groups * wide * size * size * channels * 9};
}

double seconds_of(const std::function<void()>& f) {
  double best = 1e9;
  for (int i = 0; i < 7; ++i) {
    const auto start = std::chrono::steady_clock::now();
    f();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

struct Compiled {
  codegen::KernelObject object;
  std::vector<std::byte> code;
  double link_ms = 0;
};

Compiled compile(const Workload& work, const target::Target& target) {
  Compiled compiled{kernel::compile({work.kernel, {}}, target).value().object, {}};
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  compiled.code = kernel::link({&compiled.object, 1}, target).value();
  compiled.link_ms = seconds_between(start, clock.now_ns()) * 1e3;
  return compiled;
}

// GFLOP/s of a compiled kernel on one thread.
double speed_of(const Workload& work, const Compiled& compiled) {
  const auto module = cpu::KernelModule::load(compiled.code).value();
  const AttuneKernel entry = module.kernel(compiled.object.entry.symbol).value();
  runtime::ThreadPool pool({.workers = 1});
  std::vector<void*> buffers;
  for (const ir::Buffer& buffer : work.kernel.params) {
    const std::size_t bytes =
        (static_cast<std::size_t>(ir::element_count(*buffer)) * 4 + 63) / 64 * 64;
    buffers.push_back(std::aligned_alloc(64, bytes));
    std::fill_n(static_cast<float*>(buffers.back()), bytes / 4, 0.5f);
  }
  const double seconds = seconds_of([&] {
    const Status status = cpu::run_kernel(entry, pool, nullptr, buffers);
    CHECK(status.ok(), status.error().message);
  });
  for (void* buffer : buffers) std::free(buffer);
  return work.flops / seconds * 1e-9;
}

void report(const char* name, const Tile& tile, const Workload& work, const target::Target& target,
            double peak) {
  const int rounds = 5;
  double compile_ms = 0, link_ms = 0;
  Compiled last;
  for (int i = 0; i < rounds; ++i) {
    last = compile(work, target);
    compile_ms += last.object.compile_ms / rounds;
    link_ms += last.link_ms / rounds;
  }
  fmt::print("{:5} {:2}x{} {:11} {:9} {:8.1f} {:6.1f} {:7} {:8.1f}\n", name, tile.rows,
             tile.vectors, tile.hold_rows ? "bcast held" : "vector held",
             tile.launder ? "laundered" : "", compile_ms, link_ms, last.object.entry.vector_spills,
             100 * speed_of(work, last) / peak);
}

int bench(const std::string& cpu) {
  target::Target wanted;
  wanted.set("mcpu", cpu);
  wanted.threads = 1;
  const auto target = targets::resolve(wanted);
  if (!target.ok()) {
    fmt::print(stderr, "{}\n{}\n", target.error().message, target.error().hint);
    return 2;
  }
  const int lanes = target->lanes(4);
  double peak = 0;
  for (const Tile& tile :
       {Tile{6, 2, false}, Tile{4, 3, false}, Tile{5, 2, false}, Tile{8, 3, false}}) {
    if (tile.rows * tile.vectors + 3 > target->vector_registers) continue;
    const Workload work = gemm(tile, lanes);
    peak = std::max(peak, speed_of(work, compile(work, *target)));
  }
  fmt::print("{}: {:.1f} GFLOP/s best GEMM tile, {} lanes\n", target->attribute("mcpu"), peak,
             lanes);
  fmt::print("{:41} {:>8} {:>6} {:>7} {:>8}\n", "kernel, tile", "ms", "link", "spills", "% best");
  for (const Tile& tile :
       {Tile{6, 2, false}, Tile{4, 3, false}, Tile{3, 4, true}, Tile{8, 2, false},
        Tile{8, 3, false}, Tile{14, 2, false}, Tile{9, 3, false}}) {
    if (tile.rows * tile.vectors + 3 > target->vector_registers) continue;
    report("gemm", tile, gemm(tile, lanes), *target, peak);
    report("conv", tile, conv(tile, lanes), *target, peak);
    Tile plain = tile;
    plain.launder = false;
    report("conv", plain, conv(plain, lanes), *target, peak);
  }
  return 0;
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) { return attune::bench(argc > 1 ? argv[1] : ""); }
