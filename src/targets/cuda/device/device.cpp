#include "targets/cuda/device/device.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "targets/cuda/device/code.h"
#include "targets/cuda/device/condition.h"
#include "targets/cuda/device/context.h"
#include "targets/cuda/device/image.h"
#include "targets/cuda/device/pool.h"
#include "targets/cuda/device/stream.h"

namespace attune::cuda {
namespace {

using Memory = std::unique_ptr<runtime::DeviceMemory>;

class Device final : public runtime::Device {
 public:
  explicit Device(std::shared_ptr<const Driver> driver) : driver_(std::move(driver)) {}

  runtime::Space space() const override { return runtime::Space::Device; }

  Result<Memory> allocate(std::size_t bytes) override {
    ATTUNE_RETURN_IF_ERROR(start());
    return pool_->allocate(bytes);
  }
  Result<Memory> allocate_host(std::size_t bytes) override {
    ATTUNE_RETURN_IF_ERROR(start());
    return pool_->allocate_host(bytes);
  }
  Result<std::unique_ptr<runtime::LoadedCode>> load(std::span<const std::byte> object) override {
    ATTUNE_RETURN_IF_ERROR(start());
    ATTUNE_ASSIGN(std::unique_ptr<Code> code, Code::load(context_, object));
    const std::lock_guard lock(mutex_);
    scratch_bytes_->store(std::max(scratch_bytes_->load(), code->scratch_bytes()));
    return std::unique_ptr<runtime::LoadedCode>(std::move(code));
  }
  Result<std::unique_ptr<runtime::Stream>> open_stream(const runtime::StreamOptions&) override {
    ATTUNE_RETURN_IF_ERROR(start());
    return cuda::open_stream({context_, pool_, scratch_bytes_});
  }
  Result<std::string> condition() override {
    ATTUNE_RETURN_IF_ERROR(start());
    return condition_of(*context_);
  }

 private:
  // CUDA, at first use.
  Status start() {
    const std::lock_guard lock(mutex_);
    if (pool_ != nullptr) return {};
    ATTUNE_ASSIGN(context_, Context::open(driver_));
    ATTUNE_ASSIGN(pool_, Pool::open(context_));
    return {};
  }

  const std::shared_ptr<const Driver> driver_;
  std::mutex mutex_;
  std::shared_ptr<const Context> context_;
  std::shared_ptr<Pool> pool_;
  const std::shared_ptr<std::atomic<std::size_t>> scratch_bytes_ =
      std::make_shared<std::atomic<std::size_t>>(0);
};

// The number of parameters of each kernel of an object.
using Parameters = std::map<std::string, std::int64_t>;

Status check_kernel(const runtime::Kernel& kernel, const Parameters& known) {
  const auto found = known.find(kernel.symbol);
  if (found == known.end()) {
    return Error{ErrorCode::Corrupt,
                 "the code for CUDA devices has no kernel '" + kernel.symbol + "'",
                 "compile the model again"};
  }
  const auto given = static_cast<std::int64_t>(kernel.arguments.size());
  if (found->second == given) return {};
  return Error{ErrorCode::Corrupt,
               "kernel '" + kernel.symbol + "' takes " + std::to_string(found->second) +
                   " buffers, the plan gives it " + std::to_string(given),
               "compile the model again"};
}

// That the images are sound and are those of the plan, and that a driver is here. Whether its card
// runs them shows when they are loaded: to ask it would start CUDA.
Status check(const runtime::Plan& plan, std::span<const std::span<const std::byte>> objects) {
  std::vector<Parameters> known;
  for (const std::span<const std::byte> object : objects) {
    ATTUNE_ASSIGN(const std::vector<KernelImage> images, read_images(object));
    Parameters parameters;
    for (const KernelImage& image : images) parameters.emplace(image.symbol, image.parameters);
    known.push_back(std::move(parameters));
  }
  for (const runtime::Kernel& kernel : plan.kernels) {
    const auto object = static_cast<std::size_t>(kernel.object);
    if (object >= known.size()) continue;  // validate() refuses it
    ATTUNE_RETURN_IF_ERROR(check_kernel(kernel, known[object]));
  }
  if (const auto driver = open_driver(); !driver.ok()) return driver.error();
  return {};
}

Result<std::unique_ptr<runtime::Device>> open(std::string_view) {
  ATTUNE_ASSIGN(std::shared_ptr<const Driver> driver, open_driver());
  return std::unique_ptr<runtime::Device>(new Device(std::move(driver)));
}

Result<std::vector<std::byte>> with_ways(std::span<const std::byte> object,
                                         const runtime::DeviceKind::Ways& ways) {
  ATTUNE_ASSIGN(std::vector<KernelImage> images, read_images(object));
  std::vector<std::byte> changed;
  for (KernelImage& image : images) {
    if (const auto found = ways.find(image.symbol); found != ways.end()) {
      CHECK(found->second.size() == image.launches.size(), "a way for each launch");
      for (std::size_t i = 0; i < image.launches.size(); ++i) {
        image.launches[i].way = found->second[i];
      }
    }
    const std::vector<std::byte> bytes = write_image(image);
    changed.insert(changed.end(), bytes.begin(), bytes.end());
  }
  return changed;
}

}  // namespace

const runtime::DeviceKind device_kind = {
    .name = "cuda", .check = check, .open = open, .with_ways = with_ways};

}  // namespace attune::cuda
