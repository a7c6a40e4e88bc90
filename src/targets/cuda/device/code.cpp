#include "targets/cuda/device/code.h"

#include <algorithm>

namespace attune::cuda {
namespace {

bool has_machine_code_for(const KernelImage& image, const Architecture& card) {
  return !image.cubin.empty() && runs_on(*parse_architecture(image.architecture), card);
}

// The most that any launch of a function asks for.
std::int64_t shared_bytes_of(const std::string& function, const KernelImage& image) {
  std::int64_t most = 0;
  for (const LaunchImage& launch : image.launches) {
    if (launch.function == function) most = std::max(most, launch.shared_bytes);
  }
  return most;
}

std::array<unsigned, 3> extents(const std::array<std::int64_t, 3>& image) {
  return {static_cast<unsigned>(image[0]), static_cast<unsigned>(image[1]),
          static_cast<unsigned>(image[2])};
}

}  // namespace

Status check_fits(const KernelImage& image, const Card& card) {
  const bool translated =
      !image.ptx.empty() && translates_on(*parse_architecture(image.architecture), card.compute);
  if (!has_machine_code_for(image, card.compute) && !translated) {
    const std::string here = to_string(best_for(card.compute.major, card.compute.minor));
    return unsupported("kernel '" + image.symbol + "' is for " + image.architecture +
                           ", the card here, " + card.name + ", is " + here,
                       "compile the model again with --target 'cuda -arch=" + here + "'");
  }
  for (const LaunchImage& launch : image.launches) {
    if (launch.shared_bytes <= card.shared_bytes) continue;
    return unsupported("kernel '" + image.symbol + "' asks for " +
                           std::to_string(launch.shared_bytes) +
                           " bytes of shared memory, a block on " + card.name + " has " +
                           std::to_string(card.shared_bytes),
                       "compile the model again for this card");
  }
  return {};
}

Result<std::unique_ptr<Code>> Code::load(std::shared_ptr<const Context> context,
                                         std::span<const std::byte> object) {
  ATTUNE_ASSIGN(const std::vector<KernelImage> images, read_images(object));
  ATTUNE_RETURN_IF_ERROR(context->enter());
  std::unique_ptr<Code> code(new Code(std::move(context)));
  for (const KernelImage& image : images) ATTUNE_RETURN_IF_ERROR(code->add(image));
  return code;
}

Code::~Code() {
  if (!context_->enter().ok()) return;
  const auto alone = context_->alone();
  for (CuModule module : modules_) (void)context_->driver().module_unload.function(module);
}

Status Code::add(const KernelImage& image) {
  ATTUNE_RETURN_IF_ERROR(check_fits(image, context_->card()));
  ATTUNE_ASSIGN(const CuModule module, load_module(image));
  modules_.push_back(module);
  LoadedKernel& kernel = kernels_[image.symbol];
  kernel.symbol = image.symbol;
  kernel.parameters = static_cast<std::size_t>(image.parameters);
  kernel.scratch_bytes = static_cast<std::size_t>(image.scratch_bytes);
  for (const LaunchImage& launch : image.launches) {
    ATTUNE_ASSIGN(LoadedLaunch found, find_launch(launch, image, module));
    kernel.launches.push_back(std::move(found));
  }
  return {};
}

Result<CuModule> Code::load_module(const KernelImage& image) {
  const Driver& call = context_->driver();
  const bool as_it_is = has_machine_code_for(image, context_->card().compute);
  const void* const bytes = as_it_is ? static_cast<const void*>(image.cubin.data())
                                     : static_cast<const void*>(image.ptx.c_str());
  std::array<char, 2048> log{};
  std::array<int, 2> names{kJitErrorLog, kJitErrorLogBytes};
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size() - 1)};
  CuModule module = nullptr;
  const auto alone = context_->alone();
  const CuResult result = call.module_load.function(
      &module, bytes, static_cast<unsigned>(names.size()), names.data(), values.data());
  if (result == kSuccess) return module;
  Error error = call.error_of(call.module_load.symbol, result,
                              "loading kernel '" + image.symbol + "' for " + image.architecture);
  std::string words(log.data());
  std::replace(words.begin(), words.end(), '\n', ' ');
  if (!words.empty()) error.message += ": " + words;
  return error;
}

Result<LoadedLaunch> Code::find_launch(const LaunchImage& launch, const KernelImage& image,
                                       CuModule module) const {
  const Driver& call = context_->driver();
  LoadedLaunch loaded{nullptr, extents(launch.grid), extents(launch.block),
                      static_cast<unsigned>(launch.shared_bytes), launch.arguments};
  ATTUNE_RETURN_IF_ERROR(call("looking for function '" + launch.function + "'",
                              call.module_function, &loaded.function, module,
                              launch.function.c_str()));
  const std::int64_t shared_bytes = shared_bytes_of(launch.function, image);
  if (shared_bytes == 0) return loaded;
  ATTUNE_RETURN_IF_ERROR(call("asking for " + std::to_string(shared_bytes) +
                                  " bytes of shared memory for '" + launch.function + "'",
                              call.function_set, loaded.function, kMostDynamicSharedBytes,
                              static_cast<int>(shared_bytes)));
  return loaded;
}

Result<runtime::KernelHandle> Code::kernel(const std::string& symbol) const {
  const auto found = kernels_.find(symbol);
  if (found != kernels_.end()) return static_cast<runtime::KernelHandle>(&found->second);
  return Error{ErrorCode::NotFound, "the code for CUDA devices has no kernel '" + symbol + "'",
               "compile the model again"};
}

std::size_t Code::scratch_bytes() const {
  std::size_t most = 0;
  for (const auto& [symbol, kernel] : kernels_) most = std::max(most, kernel.scratch_bytes);
  return most;
}

}  // namespace attune::cuda
