#include "targets/cuda/device/driver.h"

#include <dlfcn.h>

#include <cstdlib>

namespace attune::cuda {
namespace {

constexpr int kLeastVersion = 12000;  // of CUDA, as drivers count

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

const char* hint_for(CuResult result) {
  switch (result) {
    case kOutOfMemory:
      return "use a smaller model or batch, or end other programs that use the card";
    case kNotInitialized:
      return "CUDA was started before this process was forked; open the device in the child alone";
    case kNoDevice:
      return kElsewhere;
    case kInvalidImage:
    case kNoBinaryForGpu:
    case kUnsupportedPtx:
      return "compile the model again for this card, or install a newer driver";
    case kIllegalAddress:
    case kLaunchFailed:
      return "this is a mistake of the compiler or of a schedule by hand; please report it";
    case kDriverMismatch:
      return "the driver's library and its kernel module differ; restart the machine";
    default:
      return "";
  }
}

ErrorCode code_for(CuResult result) {
  switch (result) {
    case kOutOfMemory:
      return ErrorCode::Exhausted;
    case kNoDevice:
    case kInvalidImage:
    case kNoBinaryForGpu:
    case kUnsupportedPtx:
      return ErrorCode::Unsupported;
    default:
      return ErrorCode::Io;
  }
}

template <typename... Parameters>
bool find(void* library, Call<Parameters...>& call) {
  void* const found = ::dlsym(library, call.symbol);
  call.function = reinterpret_cast<CuResult (*)(Parameters...)>(found);
  return found != nullptr;
}

Error too_old(const std::string& why) {
  return unsupported("the CUDA driver here " + why,
                     "install a driver for CUDA " + version_text(kLeastVersion) + " or newer");
}

}  // namespace

Error Driver::error_of(const char* symbol, CuResult result, std::string_view doing) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (error_name.function(result, &name) != kSuccess || name == nullptr) name = "an unknown error";
  if (error_text.function(result, &text) != kSuccess || text == nullptr) text = "";
  std::string message =
      std::string(doing) + ": " + symbol + " gave " + name + " (" + std::to_string(result);
  if (*text != '\0') message += std::string(", ") + text;
  return {code_for(result), message + ")", hint_for(result)};
}

Result<std::shared_ptr<const Driver>> open_driver() {
  const char* const wish = std::getenv("ATTUNE_LIBCUDA");
  const char* const path = wish != nullptr && *wish != '\0' ? wish : "libcuda.so.1";
  // It stays open: a driver does not bear being unloaded.
  void* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return unsupported("no CUDA driver is here: " + std::string(path) + " cannot be opened",
                       kElsewhere);
  }
  const auto driver = std::make_shared<Driver>();
  const char* missing = nullptr;
#define ATTUNE_CUDA_CALL(name, symbol, parameters) \
  if (!find(library, driver->name)) missing = symbol;
#include "targets/cuda/device/driver_calls.inc"
  if (missing != nullptr) return too_old("has no " + std::string(missing));
  int version = 0;
  ATTUNE_RETURN_IF_ERROR(
      (*driver)("asking the driver for its version", driver->driver_version, &version));
  if (version < kLeastVersion) return too_old("is for CUDA " + version_text(version));
  return std::shared_ptr<const Driver>(driver);
}

}  // namespace attune::cuda
