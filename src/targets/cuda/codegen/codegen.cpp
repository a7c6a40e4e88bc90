#include "targets/cuda/codegen/codegen.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "targets/cuda/codegen/compile_process.h"
#include "targets/cuda/codegen/kernel_text.h"
#include "targets/cuda/codegen/limits.h"
#include "targets/cuda/codegen/nvrtc.h"
#include "targets/cuda/codegen/ptxas_log.h"
#include "targets/cuda/codegen/waiting.h"
#include "targets/cuda/device/architecture.h"

namespace attune::cuda {
namespace {

constexpr std::int64_t kRegisterBytes = 4;
constexpr int kFirstThatWaits = 9;

Result<Compiled> compile_text(const std::string& text, const target::Target& target) {
  const Result<Nvrtc>& nvrtc = Nvrtc::here();
  if (!nvrtc.ok()) return nvrtc.error();
  return compile_apart(*nvrtc, text, std::string(target.attribute("arch")));
}

// Whether launches can wait for the work before them.
bool waits(const target::Target& target) {
  const auto architecture = parse_architecture(target.attribute("arch"));
  return architecture && architecture->major >= kFirstThatWaits;
}

Result<KernelText> print(const ir::Kernel& kernel, const target::Target& target) {
  ATTUNE_RETURN_IF_ERROR(check_matrix_units(kernel, target));
  return print_kernel(kernel, waits(target), target.launch);
}

Result<codegen::KernelObject> compile(const ir::Kernel& kernel, const target::Target& target) {
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  ATTUNE_ASSIGN(KernelText printed, print(kernel, target));
  ATTUNE_RETURN_IF_ERROR(check_limits(kernel.name, printed, target.launch));
  ATTUNE_ASSIGN(Compiled compiled, compile_text(printed.text, target));
  // What is only read may be read at any time, for all that NVRTC knows.
  if (waits(target) && !waits_before_memory(compiled.ptx)) {
    ATTUNE_ASSIGN(printed, print_kernel(kernel, false, target.launch));
    ATTUNE_ASSIGN(compiled, compile_text(printed.text, target));
  }
  const PtxasFacts facts = parse_ptxas_log(compiled.log);
  if (!facts.serialised.empty()) {
    return unsupported(fmt::format("kernel '{}' has instructions of warpgroups that wait for each "
                                   "other: {}",
                                   kernel.name, facts.serialised),
                       "choose smaller tiles");
  }
  KernelImage image;
  image.symbol = kernel.name;
  image.architecture = target.attribute("arch");
  image.parameters = std::ssize(kernel.params);
  image.scratch_bytes = printed.scratch_bytes;
  image.launches = std::move(printed.launches);
  image.cubin = std::move(compiled.cubin);
  // Text for an architecture with features of its own is of no use to any other card.
  if (!image.architecture.ends_with('a')) image.ptx = std::move(compiled.ptx);
  codegen::KernelObject object;
  object.entry.symbol = kernel.name;
  object.entry.vector_spills = static_cast<int>(facts.spill_bytes / kRegisterBytes);
  for (const std::byte byte : write_image(image)) object.bytes.push_back(static_cast<char>(byte));
  object.compile_ms = seconds_between(start, clock.now_ns()) * 1e3;
  return object;
}

Result<std::vector<std::byte>> link(std::span<const codegen::KernelObject> objects) {
  std::vector<std::byte> code;
  for (const codegen::KernelObject& object : objects) {
    for (const char c : object.bytes) code.push_back(static_cast<std::byte>(c));
  }
  return code;
}

Result<std::string> cuda_text(const ir::Kernel& kernel, const target::Target& target) {
  ATTUNE_ASSIGN(KernelText printed, print(kernel, target));
  return std::move(printed.text);
}

Result<std::string> ptx_text(const ir::Kernel& kernel, const target::Target& target) {
  ATTUNE_ASSIGN(const KernelText printed, print(kernel, target));
  ATTUNE_ASSIGN(Compiled compiled, compile_text(printed.text, target));
  return std::move(compiled.ptx);
}

constexpr codegen::TextForm kTexts[] = {{"cuda", "its launches in CUDA C++", cuda_text},
                                        {"ptx", "what NVRTC makes of them", ptx_text}};

std::string version() { return Nvrtc::here().ok() ? Nvrtc::here()->version() : "none"; }

}  // namespace

const codegen::CodeGenerator code_generator = {
    .kind = "cuda",
    .pipeline = lower::launch_pipeline,
    .compile = compile,
    .link = link,
    .texts = kTexts,
    .compiler = "NVRTC",
    .version = version,
    .library = "nvrtc",
};

}  // namespace attune::cuda
