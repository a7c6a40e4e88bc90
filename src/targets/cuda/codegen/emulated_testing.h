// Test support: kernels printed as CUDA C++, compiled as C++ for this machine with an emulation of
// blocks and threads, and run on arrays of the interpreter. Many kernels become one file.
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/temporary_directory_testing.h"
#include "compiler/ir/nodes/array.h"
#include "targets/cuda/codegen/emulation_testing.h"
#include "targets/cuda/codegen/kernel_text.h"
#include "targets/cuda/codegen/prelude.h"

namespace attune::cuda {

class EmulatedKernels {
 public:
  // Kernels must have different names.
  explicit EmulatedKernels(const std::vector<ir::Kernel>& kernels,
                           const std::string& flags = "-O0") {
    directory_.write(std::string(kPreludeName), prelude());
    std::string source = kEmulation;
    for (const ir::Kernel& kernel : kernels) {
      kernels_.push_back(print_kernel(kernel, true).value());
      source += for_this_machine(kernels_.back().text);
      for (const LaunchImage& launch : kernels_.back().launches) source += caller_of(launch);
    }
    const std::string file = directory_.write("kernels.cpp", source);
    const std::string library = directory_.file("kernels.so"), log = directory_.file("log");
    const std::string command =
        fmt::format("g++ -std=c++17 -w {} -fpermissive -fPIC -shared '{}' -o '{}' > '{}' 2>&1",
                    flags, file, library, log);
    CHECK(std::system(command.c_str()) == 0,
          fmt::format("'{}' failed:\n{}\n{}", command, directory_.read("log").substr(0, 4000),
                      kernels.size() == 1 ? kernels_[0].text : ""));
    library_ = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    CHECK(library_ != nullptr, ::dlerror());
  }
  ~EmulatedKernels() { ::dlclose(library_); }
  EmulatedKernels(const EmulatedKernels&) = delete;
  EmulatedKernels& operator=(const EmulatedKernels&) = delete;

  const std::string& text(std::size_t which) const { return kernels_[which].text; }

  // The arrays after a run of kernel number `which` on them.
  std::vector<ir::Array> run(std::size_t which, std::vector<ir::Array> arrays) const {
    const KernelText& kernel = kernels_[which];
    std::vector<std::vector<std::byte>> memory;
    std::vector<std::byte*> places;
    for (const ir::Array& array : arrays) {
      places.push_back(aligned(memory, array.data.size()));
      std::copy(array.data.begin(), array.data.end(), places.back());
    }
    std::byte* scratch = aligned(memory, static_cast<std::size_t>(kernel.scratch_bytes));
    for (const LaunchImage& launch : kernel.launches) {
      std::vector<void*> arguments;
      for (const Argument& a : launch.arguments) {
        arguments.push_back(a.scratch ? scratch + a.at : places[static_cast<std::size_t>(a.at)]);
      }
      using Emulate = int (*)(void*, const std::int64_t*, const std::int64_t*, void**);
      const auto emulate = reinterpret_cast<Emulate>(::dlsym(library_, "emulate"));
      void* body = ::dlsym(library_, ("call_" + launch.function).c_str());
      CHECK(emulate && body, "the functions of a kernel");
      CHECK(emulate(body, launch.grid.data(), launch.block.data(), arguments.data()) == 0,
            "threads of a block wait for others that have ended:\n" + kernel.text);
    }
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      std::copy_n(places[i], arrays[i].data.size(), arrays[i].data.begin());
    }
    return arrays;
  }

 private:
  // Memory that is asked for at launch is declared elsewhere.
  static std::string for_this_machine(std::string text) {
    const std::string wanted = "extern __shared__";
    for (std::size_t at = 0; (at = text.find(wanted, at)) != std::string::npos;) {
      text.replace(at, wanted.size(), "extern");
    }
    return text;
  }

  static std::string caller_of(const LaunchImage& launch) {
    std::string arguments;
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      arguments += fmt::format("emulation::Address{{a[{}]}}, ", i);
    }
    arguments += "1";  // the next may begin early
    return fmt::format("\nextern \"C\" void call_{0}(void** a) {{ {0}({1}); }}\n", launch.function,
                       arguments);
  }

  static std::byte* aligned(std::vector<std::vector<std::byte>>& memory, std::size_t bytes) {
    memory.emplace_back(bytes + 64);
    std::byte* first = memory.back().data();
    while (reinterpret_cast<std::uintptr_t>(first) % 64 != 0) ++first;
    return first;
  }

  test::TemporaryDirectory directory_;
  std::vector<KernelText> kernels_;
  void* library_ = nullptr;
};

}  // namespace attune::cuda
