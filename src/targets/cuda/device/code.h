// Code that is loaded on a card: functions that can be launched, with the shapes of their launches.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/execution/device.h"
#include "targets/cuda/device/context.h"
#include "targets/cuda/device/image.h"

namespace attune::cuda {

struct LoadedLaunch {
  CuFunction function = nullptr;
  std::array<unsigned, 3> grid{}, block{};
  unsigned shared_bytes = 0;
  std::vector<Argument> arguments = {};
  bool waits = false;
  Overlap overlap = Overlap::None;  // as chosen
  unsigned asked_bytes = 0;         // of shared memory, as chosen
  unsigned alone_bytes = 0;         // the same where blocks are to be alone
};

struct LoadedKernel {
  std::string symbol;
  std::size_t parameters = 0;
  std::size_t scratch_bytes = 0;
  std::vector<LoadedLaunch> launches = {};
  // Once launched, launching it asks the driver for nothing that waits for other work.
  mutable std::atomic<bool> launched = false;
};

// Why a card cannot run the image; nothing when it can, by its machine code or its PTX.
Status check_fits(const KernelImage& image, const Card& card);

class Code final : public runtime::LoadedCode {
 public:
  static Result<std::unique_ptr<Code>> load(std::shared_ptr<const Context> context,
                                            std::span<const std::byte> object);
  ~Code() override;
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  // A LoadedKernel.
  Result<runtime::KernelHandle> kernel(const std::string& symbol) const override;
  std::vector<int> launch_ways(runtime::KernelHandle kernel) const override;
  Status choose_way(runtime::KernelHandle kernel, std::size_t launch, int way) override;
  // The most that one of its kernels asks for.
  std::size_t scratch_bytes() const;

 private:
  explicit Code(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
  Status add(const KernelImage& image);
  Result<CuModule> load_module(const KernelImage& image);
  Result<LoadedLaunch> find_launch(const LaunchImage& launch, CuModule module);
  Status choose(LoadedLaunch& launch, const Way& way);
  int ways_of(const LoadedLaunch& launch) const;

  const std::shared_ptr<const Context> context_;
  std::vector<CuModule> modules_;
  std::map<CuFunction, unsigned> reserved_;  // the most shared memory that each was asked for
  std::map<std::string, LoadedKernel> kernels_;
};

}  // namespace attune::cuda
