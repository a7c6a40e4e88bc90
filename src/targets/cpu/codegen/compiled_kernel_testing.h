// Test support: compiles a kernel for this machine, loads it and runs it on plain arrays.
#pragma once

#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "compiler/ir/nodes/stmt.h"
#include "runtime/execution/thread_pool.h"
#include "targets/cpu/codegen/codegen.h"
#include "targets/cpu/device/kernel_module.h"
#include "targets/cpu/facts/facts.h"

namespace attune::cpu {

// An array aligned to 64 bytes, as kernels expect.
template <typename T>
class Array {
 public:
  explicit Array(std::size_t size, T value = {}) : size_(size) {
    const std::size_t bytes = (size * sizeof(T) + 63) / 64 * 64;
    data_.reset(static_cast<T*>(std::aligned_alloc(64, bytes)));
    for (std::size_t i = 0; i < size; ++i) data_[i] = value;
  }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* data() { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T[], Free> data_;
  std::size_t size_;
};

inline target::Target host_target(int threads = 1) {
  target::Target target;
  target.threads = threads;
  return resolve(target).value();
}

inline target::Target cpu_target(const std::string& cpu) {
  target::Target target;
  target.set(kCpu, cpu);
  target.threads = 1;
  return resolve(target).value();
}

// Their names must differ.
inline Result<codegen::Module> compile_all(std::span<const ir::Kernel> kernels,
                                           const target::Target& target) {
  codegen::Module module;
  std::vector<codegen::KernelObject> objects;
  for (const ir::Kernel& kernel : kernels) {
    ATTUNE_ASSIGN(objects.emplace_back(), code_generator.compile(kernel, target));
    module.kernels.push_back(objects.back().entry);
  }
  ATTUNE_ASSIGN(module.code, code_generator.link(objects));
  return module;
}

inline Result<codegen::Module> compile(const ir::Kernel& kernel, const target::Target& target) {
  return compile_all({&kernel, 1}, target);
}

class LoadedKernel {
 public:
  explicit LoadedKernel(const ir::Kernel& kernel, const target::Target& target = host_target())
      : compiled(compile(kernel, target).value()),
        module_(cpu::KernelModule::load(compiled.code).value()),
        entry_(module_.kernel(entry().symbol).value()) {}

  const codegen::KernelEntry& entry() const { return compiled.kernels.front(); }

  void run(const std::vector<void*>& buffers, int workers = 1) {
    runtime::ThreadPool pool({.workers = workers, .cores = {}, .spin_us = 0});
    Array<char> workspace(static_cast<std::size_t>(entry().workspace_bytes) + 64);
    const Status status = cpu::run_kernel(entry_, pool, workspace.data(), buffers);
    CHECK(status.ok(), status.error().message);
  }

  codegen::Module compiled;

 private:
  cpu::KernelModule module_;
  AttuneKernel entry_;
};

// out[i] = f(in[i]) for i in [0, n), `lanes` at a time; n is a multiple of lanes.
template <typename Function>
ir::Kernel elementwise(ir::DType in, ir::DType out, std::int64_t n, int lanes, Function f) {
  const ir::Buffer x = ir::make_buffer("x", in, {n});
  const ir::Buffer y = ir::make_buffer("y", out, {n});
  const ir::Expr first = ir::var("i") * ir::Expr(lanes);
  const ir::Expr index = lanes == 1 ? first : ir::ramp(first, ir::Expr(1), lanes);
  ir::Stmt body = ir::store(y, {index}, f(ir::load(x, {index})));
  return {"elementwise", {x, y}, ir::for_loop("i", 0, n / lanes, body)};
}

}  // namespace attune::cpu
