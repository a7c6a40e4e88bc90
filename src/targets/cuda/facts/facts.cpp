#include "targets/cuda/facts/facts.h"

#include <array>

namespace attune::cuda {
namespace {

constexpr std::array<std::string_view, 1> kNames = {"arch"};

Result<target::Target> resolve(const target::Target& target) {
  target::Target resolved = target;
  resolved.threads = 1;
  if (resolved.attribute("arch").empty()) resolved.set("arch", "sm_90a");
  resolved.vector_bytes = 16;
  resolved.vector_registers = 1 << 16;
  resolved.launch.multiprocessors = 132;
  resolved.launch.shared_bytes = 227 << 10;
  return resolved;
}

Status runs_nowhere(const target::Target&) {
  return unsupported("programs for CUDA devices are compiled here, not run");
}

target::Requirements requirements(const target::Target&) {
  return {.architecture = "cuda", .own_memory = true};
}

std::string_view processor(const target::Target&) { return "cuda"; }

std::string no_autotvm_text(const target::Target&) { return {}; }

}  // namespace

const target::Kind target_kind = {
    .name = "cuda",
    .meaning = "an NVIDIA graphics card",
    .example = "cuda -arch=sm_90a",
    .device = "cuda",
    .attributes = kNames,
    .resolve = resolve,
    .check_runs_here = runs_nowhere,
    .requirements = requirements,
    .processor = processor,
    .autotvm_text = no_autotvm_text,
};

}  // namespace attune::cuda
