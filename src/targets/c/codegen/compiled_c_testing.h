// Test support: kernels printed as C, compiled by the machine's C compiler with all warnings as
// errors, loaded, and run on arrays of the interpreter. Many kernels become one file, since a
// compiler takes its time to start.
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/temporary_directory_testing.h"
#include "compiler/codegen/c_text/names.h"
#include "compiler/ir/nodes/array.h"
#include "targets/c/codegen/kernel.h"

namespace attune::c {

inline constexpr const char* kStrictFlags = "-Wall -Wextra -Wconversion -pedantic -Werror";

class CompiledC {
 public:
  // Kernels must have different names. `flags` come last.
  explicit CompiledC(const std::vector<ir::Kernel>& kernels, const std::string& flags = "-O1",
                     const std::string& compiler = "cc", int threads = 1) {
    std::string header = "#include <stdint.h>\n" + parallel_struct("t"), source = kCalls;
    for (const PreludePart& part : prelude()) header += part.text;
    VectorTypes vectors;
    for (const ir::Kernel& kernel : kernels) {
      const PrintedKernel printed =
          print_kernel(kernel, {.prefix = "t", .threads = threads}).value();
      vectors.insert(printed.vectors.begin(), printed.vectors.end());
      source += printed.definition;
      std::string arguments;
      for (std::size_t i = 0; i < kernel.params.size(); ++i) arguments += fmt::format(", b[{}]", i);
      source += fmt::format(
          "void call_{0}(const t_parallel* p, void* w, void** b) {{ (void)b; t_{0}(p, w{1}); }}\n",
          c_text::identifier(kernel.name), arguments);
      names_.push_back("call_" + c_text::identifier(kernel.name));
      workspace_bytes_.push_back(printed.workspace_bytes);
    }
    for (const auto& [tag, lanes] : vectors) {
      if ((lanes & (lanes - 1)) == 0) header += fmt::format("VTYPE({}, {})\n", tag, lanes);
    }
    directory_.write("prelude.h", header);
    const std::string file = directory_.write("kernels.c", source);
    const std::string library = directory_.file("kernels.so"), log = directory_.file("log");
    const std::string command =
        fmt::format("{} -std=c11 {} -fPIC -shared {} '{}' -lm -o '{}' > '{}' 2>&1", compiler,
                    kStrictFlags, flags, file, library, log);
    CHECK(std::system(command.c_str()) == 0,
          fmt::format("'{}' failed:\n{}\n{}", command, directory_.read("log").substr(0, 4000),
                      kernels.size() == 1 ? source : ""));
    library_ = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    CHECK(library_ != nullptr, ::dlerror());
  }
  ~CompiledC() { ::dlclose(library_); }
  CompiledC(const CompiledC&) = delete;
  CompiledC& operator=(const CompiledC&) = delete;

  // The arrays after a run of kernel number `which` on them; `parallel` is a t_parallel.
  std::vector<ir::Array> run(std::size_t which, std::vector<ir::Array> arrays,
                             const void* parallel = nullptr) const {
    std::vector<void*> buffers;
    for (ir::Array& array : arrays) buffers.push_back(array.data.data());
    std::vector<std::byte> workspace(static_cast<std::size_t>(workspace_bytes_[which]) + 64);
    auto* first = workspace.data();
    while (reinterpret_cast<std::uintptr_t>(first) % 64 != 0) ++first;
    using Call = void (*)(const void*, void*, void**);
    const auto call = reinterpret_cast<Call>(::dlsym(library_, names_[which].c_str()));
    CHECK(call != nullptr, "the kernel's function is missing");
    call(parallel, first, buffers.data());
    return arrays;
  }

 private:
  static constexpr const char* kCalls = "#include \"prelude.h\"\n";

  test::TemporaryDirectory directory_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> workspace_bytes_;
  void* library_ = nullptr;
};

}  // namespace attune::c
