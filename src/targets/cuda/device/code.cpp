#include "targets/cuda/device/code.h"

#include <algorithm>
#include <cstdlib>

namespace attune::cuda {
namespace {

bool has_machine_code_for(const KernelImage& image, const Architecture& card) {
  return !image.cubin.empty() && runs_on(*parse_architecture(image.architecture), card);
}

// What a block asks for at launch when no other fits beside it.
unsigned bytes_alone(const Card& card, unsigned declared) {
  constexpr std::int64_t kMore = 128;  // than half of it
  const std::int64_t wanted = card.resident_shared_bytes / 2 + kMore - declared;
  return static_cast<unsigned>(
      std::clamp<std::int64_t>(wanted, 0, std::max<std::int64_t>(0, card.shared_bytes - declared)));
}

// Of kWays for all launches, whatever images say, where $ATTUNE_CUDA_WAY is set: for comparing
// them. Negative: none.
int way_wished() {
  const char* const wish = std::getenv("ATTUNE_CUDA_WAY");
  if (wish == nullptr || *wish < '0' || *wish >= '0' + static_cast<int>(kWays.size())) return -1;
  return *wish - '0';
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
    ATTUNE_ASSIGN(LoadedLaunch found, find_launch(launch, module));
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

Result<LoadedLaunch> Code::find_launch(const LaunchImage& launch, CuModule module) {
  const Driver& call = context_->driver();
  LoadedLaunch loaded{nullptr,
                      extents(launch.grid),
                      extents(launch.block),
                      static_cast<unsigned>(launch.shared_bytes),
                      launch.arguments,
                      launch.waits};
  ATTUNE_RETURN_IF_ERROR(call("looking for function '" + launch.function + "'",
                              call.module_function, &loaded.function, module,
                              launch.function.c_str()));
  int declared = 0;
  ATTUNE_RETURN_IF_ERROR(call("asking what function '" + launch.function + "' has",
                              call.function_get, &declared, kStaticSharedBytes, loaded.function));
  loaded.alone_bytes =
      std::max(loaded.shared_bytes, bytes_alone(context_->card(), static_cast<unsigned>(declared)));
  std::int64_t way = way_wished();
  if (way < 0 || !loaded.waits) way = launch.way;
  if (way >= ways_of(loaded)) way -= static_cast<std::int64_t>(kWaysTogether - 1);
  ATTUNE_RETURN_IF_ERROR(choose(loaded, kWays[static_cast<std::size_t>(way)]));
  return loaded;
}

Status Code::choose(LoadedLaunch& launch, const Way& way) {
  const unsigned bytes = way.alone ? launch.alone_bytes : launch.shared_bytes;
  if (bytes > reserved_[launch.function]) {
    const Driver& call = context_->driver();
    ATTUNE_RETURN_IF_ERROR(call("asking for " + std::to_string(bytes) + " bytes of shared memory",
                                call.function_set, launch.function, kMostDynamicSharedBytes,
                                static_cast<int>(bytes)));
    reserved_[launch.function] = bytes;
  }
  launch.overlap = way.overlap;
  launch.asked_bytes = bytes;
  return {};
}

// Blocks can be alone where each has a multiprocessor of its own and needs not all of it.
int Code::ways_of(const LoadedLaunch& launch) const {
  if (!launch.waits) return 1;
  const Card& card = context_->card();
  const std::int64_t blocks = std::int64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  const bool fits = blocks <= card.multiprocessors && launch.alone_bytes > launch.shared_bytes;
  return static_cast<int>(fits ? kWays.size() : kWaysTogether);
}

std::vector<int> Code::launch_ways(runtime::KernelHandle kernel) const {
  std::vector<int> ways;
  for (const LoadedLaunch& launch : static_cast<const LoadedKernel*>(kernel)->launches) {
    ways.push_back(ways_of(launch));
  }
  return ways;
}

Status Code::choose_way(runtime::KernelHandle kernel, std::size_t launch, int way) {
  LoadedKernel& found = kernels_.at(static_cast<const LoadedKernel*>(kernel)->symbol);
  CHECK(launch < found.launches.size() && way >= 0 && way < ways_of(found.launches[launch]),
        "a way of those there are");
  ATTUNE_RETURN_IF_ERROR(context_->enter());
  return choose(found.launches[launch], kWays[static_cast<std::size_t>(way)]);
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
