#include "targets/cuda/device/condition.h"

#include <dlfcn.h>

#include <cstdlib>

namespace attune::cuda {
namespace {

// The few functions and numbers of the management library that are used here, as its binary
// interface has them. It is opened once.
class Management {
 public:
  using Handle = void*;

  Management() {
    const char* const wish = std::getenv("ATTUNE_LIBNVML");
    library_ = ::dlopen(wish != nullptr && *wish != '\0' ? wish : "libnvidia-ml.so.1",
                        RTLD_NOW | RTLD_LOCAL);
    int (*start)() = nullptr;
    works_ = library_ != nullptr && find(start, "nvmlInit_v2") &&
             find(by_bus_, "nvmlDeviceGetHandleByPciBusId_v2") &&
             find(clock_, "nvmlDeviceGetClockInfo") &&
             find(temperature_, "nvmlDeviceGetTemperature") &&
             find(power_, "nvmlDeviceGetPowerUsage") && start() == 0;
  }

  std::string condition(const char* bus) const {
    Handle card = nullptr;
    if (!works_ || by_bus_(bus, &card) != 0) return {};
    constexpr int kCores = 1, kMemory = 2, kOfTheCard = 0;
    std::string text;
    const auto add = [&](int result, const char* before, unsigned value, const char* unit) {
      if (result != 0) return;
      text += (text.empty() ? "" : ", ") + std::string(before) + std::to_string(value) + unit;
    };
    unsigned value = 0;
    int result = clock_(card, kCores, &value);
    add(result, "", value, " MHz");
    result = clock_(card, kMemory, &value);
    add(result, "memory ", value, " MHz");
    result = temperature_(card, kOfTheCard, &value);
    add(result, "", value, " °C");
    result = power_(card, &value);
    add(result, "", value / 1000, " W");
    return text;
  }

 private:
  template <typename Function>
  bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library_, name));
    return function != nullptr;
  }

  void* library_ = nullptr;
  bool works_ = false;
  int (*by_bus_)(const char* bus, Handle* card) = nullptr;
  int (*clock_)(Handle card, int which, unsigned* mhz) = nullptr;
  int (*temperature_)(Handle card, int where, unsigned* degrees) = nullptr;
  int (*power_)(Handle card, unsigned* milliwatts) = nullptr;
};

}  // namespace

std::string condition_of(const Context& context) {
  static const Management management;
  char bus[32] = {};
  const Driver& call = context.driver();
  if (call.device_bus.function(bus, static_cast<int>(sizeof bus), context.device()) != kSuccess) {
    return {};
  }
  return management.condition(bus);
}

}  // namespace attune::cuda
