#include <gtest/gtest.h>
#include <thread>

#include "compiler/ir/nodes/intrinsics.h"
#include "targets/cpu/codegen/compiled_kernel_testing.h"

namespace attune::cpu {
namespace {

using ir::Expr;
using ir::kF32;

ir::Kernel vector_add(std::int64_t n, int lanes) {
  const auto a = ir::make_buffer("a", kF32, {n}), b = ir::make_buffer("b", kF32, {n}),
             c = ir::make_buffer("c", kF32, {n});
  const Expr index = ir::ramp(ir::var("i") * Expr(lanes), Expr(1), lanes);
  return {"vector_add",
          {a, b, c},
          ir::for_loop("i", 0, n / lanes,
                       ir::store(c, {index}, ir::load(a, {index}) + ir::load(b, {index})))};
}

TEST(CompiledKernels, VectorAdd) {
  for (const int lanes : {2, 8, 16, 24}) {
    const std::int64_t n = 96;
    LoadedKernel kernel(vector_add(n, lanes));
    Array<float> a(n), b(n), c(n);
    for (int i = 0; i < n; ++i) a[i] = i * 0.5f, b[i] = 100.0f - i;
    kernel.run({a.data(), b.data(), c.data()});
    for (int i = 0; i < n; ++i) EXPECT_EQ(c[i], a[i] + b[i]) << lanes << " lanes, element " << i;
  }
}

// C[rows, vectors * lanes] = A[rows, k] B[k, vectors * lanes], accumulators in registers.
ir::Kernel gemm_tile(int rows, int vectors, int lanes, std::int64_t k_extent) {
  const std::int64_t n = vectors * lanes;
  const auto a = ir::make_buffer("a", kF32, {rows * k_extent});
  const auto b = ir::make_buffer("b", kF32, {k_extent * n});
  const auto c = ir::make_buffer("c", kF32, {rows * n});
  const auto acc = ir::make_buffer("acc", kF32, {rows * n}, ir::Scope::Register);
  const Expr k = ir::var("k");
  std::vector<ir::Stmt> init, update, finish;
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < vectors; ++v) {
      const Expr place = ir::ramp(Expr(r * n + v * lanes), Expr(1), lanes);
      init.push_back(ir::store(acc, {place}, ir::zero_of(kF32.with_lanes(lanes))));
      const Expr x = ir::broadcast(ir::load(a, {Expr(r * k_extent) + k}), lanes);
      const Expr y = ir::load(b, {ir::ramp(k * Expr(n) + Expr(v * lanes), Expr(1), lanes)});
      update.push_back(ir::store(acc, {place}, ir::load(acc, {place}) + x * y));
      finish.push_back(ir::store(c, {place}, ir::load(acc, {place})));
    }
  }
  ir::Stmt body = ir::allocate(
      acc, ir::block({ir::block(init), ir::for_loop("k", 0, k_extent, ir::block(update)),
                      ir::block(finish)}));
  return {"gemm_tile", {a, b, c}, body};
}

TEST(CompiledKernels, GemmTileKeepsAccumulatorsInRegisters) {
  const target::Target target = host_target();
  const int lanes = target.lanes(4), rows = 6, vectors = 2, depth = 50;
  LoadedKernel kernel(gemm_tile(rows, vectors, lanes, depth), target);
  EXPECT_EQ(kernel.entry().vector_spills, 0);
  const int n = vectors * lanes;
  Array<float> a(rows * depth), b(depth * n), c(rows * n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7) - 3;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 5) - 2;
  kernel.run({a.data(), b.data(), c.data()});
  for (int r = 0; r < rows; ++r) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < depth; ++k) sum += a[r * depth + k] * b[k * n + j];
      ASSERT_EQ(c[r * n + j], sum) << r << ", " << j;
    }
  }
}

TEST(CompiledKernels, TileThatDoesNotFitReportsSpills) {
  const target::Target target = cpu_target("znver3");
  EXPECT_EQ(compile(gemm_tile(6, 2, 8, 64), target)->kernels[0].vector_spills, 0);
  EXPECT_GT(compile(gemm_tile(10, 2, 8, 64), target)->kernels[0].vector_spills, 0);
}

TEST(CompiledKernels, VectorsUseTheWholeRegister) {
  const std::string wide = emit_asm(gemm_tile(6, 2, 16, 64), cpu_target("skylake-avx512")).value();
  EXPECT_NE(wide.find("vfmadd231ps"), std::string::npos);
  EXPECT_NE(wide.find("%zmm"), std::string::npos);
  const std::string narrow = emit_asm(gemm_tile(6, 2, 8, 64), cpu_target("znver3")).value();
  EXPECT_EQ(narrow.find("%zmm"), std::string::npos);
  EXPECT_NE(narrow.find("%ymm"), std::string::npos);
}

// Row sums through a scratch row per worker; the rows are a parallel loop.
ir::Kernel parallel_rows(std::int64_t rows, std::int64_t columns) {
  const auto x = ir::make_buffer("x", kF32, {rows * columns});
  const auto y = ir::make_buffer("y", kF32, {rows});
  const auto scratch = ir::make_buffer("scratch", kF32, {columns});
  const Expr r = ir::var("r"), j = ir::var("j");
  const Expr doubled = ir::load(x, {r * Expr(columns) + j}) * ir::float_imm(2);
  ir::Stmt body =
      ir::block({ir::for_loop("j", 0, columns, ir::store(scratch, {j}, doubled)),
                 ir::store(y, {r}, ir::float_imm(0)),
                 ir::for_loop("j", 0, columns,
                              ir::store(y, {r}, ir::load(y, {r}) + ir::load(scratch, {j})))});
  return {"parallel_rows",
          {x, y},
          ir::for_loop("r", 0, rows, ir::allocate(scratch, body), ir::LoopKind::Parallel)};
}

TEST(CompiledKernels, ParallelLoopWithWorkspacePerWorker) {
  const std::int64_t rows = 37, columns = 20;
  LoadedKernel kernel(parallel_rows(rows, columns), host_target(2));
  EXPECT_EQ(kernel.entry().workspace_bytes, 2 * 128);
  Array<float> x(rows * columns);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 11);
  // More workers than the target's threads must not reach beyond the two slices.
  for (const int workers : {1, 2, 5}) {
    Array<float> y(rows, -1);
    kernel.run({x.data(), y.data()}, workers);
    for (int r = 0; r < rows; ++r) {
      float sum = 0;
      for (int j = 0; j < columns; ++j) sum += 2 * x[r * columns + j];
      ASSERT_EQ(y[r], sum) << "row " << r << ", " << workers << " workers";
    }
  }
}

TEST(CompiledKernels, ParallelLoopCapturesVariablesAndNestsSerially) {
  const auto y = ir::make_buffer("y", ir::kI64, {4 * 6});
  const Expr i = ir::var("i"), j = ir::var("j"), k = ir::var("k"), base = ir::var("base");
  // The inner parallel loop is inside a parallel one; the let and the serial loop are captured.
  ir::Stmt store = ir::store(y, {k * Expr(12) + i * Expr(3) + j}, base + i * Expr(10) + j);
  ir::Stmt inner = ir::for_loop("j", 0, 3, store, ir::LoopKind::Parallel);
  ir::Stmt outer = ir::for_loop("i", 0, 4, inner, ir::LoopKind::Parallel);
  ir::Kernel kernel{"nested", {y}, ir::for_loop("k", 0, 2, ir::let("base", k * Expr(1000), outer))};
  LoadedKernel loaded(kernel, host_target(2));
  Array<std::int64_t> out(24, -1);
  loaded.run({out.data()}, 3);
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 4; ++b)
      for (int c = 0; c < 3; ++c) EXPECT_EQ(out[a * 12 + b * 3 + c], a * 1000 + b * 10 + c);
}

TEST(CompiledKernels, WorkerNumberStaysBelowThreadCount) {
  const auto y = ir::make_buffer("y", ir::kI64, {100});
  const Expr worker = ir::opaque(std::string(ir::kWorker), ir::kIndex, {});
  ir::Kernel kernel{
      "worker",
      {y},
      ir::for_loop("i", 0, 100, ir::store(y, {ir::var("i")}, worker), ir::LoopKind::Parallel)};
  LoadedKernel loaded(kernel, host_target(2));
  Array<std::int64_t> out(100, -1);
  loaded.run({out.data()}, 4);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(out[i], i < 50 ? 0 : 1);
}

TEST(CompiledKernels, LaunderKeepsEqualLoadsApart) {
  const auto x = ir::make_buffer("x", kF32, {16}), y = ir::make_buffer("y", kF32, {16});
  const Expr i = ir::var("i");
  const auto sum = [&](bool laundered) {
    const ir::Stmt again = laundered
                               ? ir::evaluate(ir::opaque(std::string(ir::kLaunder), ir::kIndex, {}))
                               : ir::Stmt();
    const ir::Stmt first = ir::store(y, {i}, ir::load(x, {i}));
    const ir::Stmt second = ir::store(y, {i}, ir::load(y, {i}) * ir::load(x, {i}));
    return ir::Kernel{
        "launder", {x, y}, ir::for_loop("i", 0, 16, ir::block({first, again, second}))};
  };
  const auto loads = [](const std::string& text) {
    int count = 0;
    for (auto at = text.find("load float"); at != std::string::npos;
         at = text.find("load float", at + 1)) {
      ++count;
    }
    return count;
  };
  const target::Target target = host_target();
  EXPECT_EQ(loads(emit_llvm(sum(false), target).value()), 1);
  EXPECT_GT(loads(emit_llvm(sum(true), target).value()), 1);
  LoadedKernel kernel(sum(true), target);
  Array<float> in(16, 3), out(16);
  kernel.run({in.data(), out.data()});
  for (int j = 0; j < 16; ++j) EXPECT_EQ(out[j], 9);
}

TEST(CompiledKernels, PrefetchChangesNothing) {
  const auto x = ir::make_buffer("x", kF32, {32}), y = ir::make_buffer("y", kF32, {32});
  const Expr i = ir::var("i");
  const Expr prefetch =
      ir::opaque(std::string(ir::kPrefetch), ir::kIndex, {ir::load(x, {i + Expr(64)}), Expr(3)});
  ir::Kernel kernel{
      "prefetch",
      {x, y},
      ir::for_loop("i", 0, 32,
                   ir::block({ir::evaluate(prefetch), ir::store(y, {i}, ir::load(x, {i}))}))};
  EXPECT_NE(emit_asm(kernel, cpu_target("znver3"))->find("prefetcht0"), std::string::npos);
  LoadedKernel loaded(kernel);
  Array<float> in(32, 5), out(32);
  loaded.run({in.data(), out.data()});
  EXPECT_EQ(out[31], 5);
}

TEST(CompiledKernels, SeveralKernelsShareOneObject) {
  std::vector<ir::Kernel> kernels{vector_add(64, 8), gemm_tile(2, 1, 8, 4)};
  const auto module = compile_all(kernels, host_target());
  ASSERT_TRUE(module.ok()) << module.error().message;
  ASSERT_EQ(module->kernels.size(), 2u);
  const auto loaded = cpu::KernelModule::load(module->code);
  ASSERT_TRUE(loaded.ok());
  EXPECT_TRUE(loaded->kernel("vector_add").ok());
  EXPECT_TRUE(loaded->kernel("gemm_tile").ok());
}

TEST(CompiledKernels, CompileFromManyThreads) {
  const target::Target target = host_target();
  std::vector<std::thread> threads;
  std::vector<int> good(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) {
        LoadedKernel kernel(gemm_tile(t + 1, 2, 8, 10 + i), target);
        good[t] += kernel.compiled.code.empty() ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, std::vector<int>(4, 5));
}

TEST(CompiledKernels, StackAndGlobalScratch) {
  // y = reversed(x) through a private array and through the workspace.
  for (const ir::Scope scope : {ir::Scope::Stack, ir::Scope::Global, ir::Scope::Register}) {
    const std::int64_t n = 40;
    const auto x = ir::make_buffer("x", kF32, {n}), y = ir::make_buffer("y", kF32, {n});
    const auto t = ir::make_buffer("t", kF32, {n}, scope);
    const Expr i = ir::var("i");
    ir::Kernel kernel{
        "scratch",
        {x, y},
        ir::allocate(
            t, ir::block(
                   {ir::for_loop("i", 0, n, ir::store(t, {i}, ir::load(x, {i}))),
                    ir::for_loop("i", 0, n, ir::store(y, {i}, ir::load(t, {Expr(n - 1) - i})))}))};
    LoadedKernel loaded(kernel);
    EXPECT_EQ(loaded.entry().workspace_bytes, scope == ir::Scope::Global ? 192 : 0);
    Array<float> in(n), out(n);
    for (int j = 0; j < n; ++j) in[j] = static_cast<float>(j);
    loaded.run({in.data(), out.data()});
    for (int j = 0; j < n; ++j) EXPECT_EQ(out[j], n - 1 - j);
  }
}

}  // namespace
}  // namespace attune::cpu
