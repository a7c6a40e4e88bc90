#include "runtime/execution/device.h"

// Each target's folder defines its own; `device_kind` in a namespace of its name.
#define ATTUNE_DEVICE(kind)                     \
  namespace attune::kind {                      \
  extern const runtime::DeviceKind device_kind; \
  }
#include "targets/list.inc"

namespace attune::runtime {

Result<std::int64_t> Stream::launch_timed(KernelHandle kernel, std::span<void* const> arguments) {
  const std::int64_t start = now_ns();
  ATTUNE_RETURN_IF_ERROR(launch(kernel, arguments));
  ATTUNE_RETURN_IF_ERROR(wait());
  return now_ns() - start;
}

Status LoadedCode::choose_way(KernelHandle, std::size_t, int) {
  CHECK(false, "this code leaves no choice");
}

Status Stream::begin_recording() { CHECK(false, "this stream records nothing"); }
Result<std::unique_ptr<Recording>> Stream::end_recording() {
  CHECK(false, "this stream records nothing");
}
Status Stream::replay(const Recording&) { CHECK(false, "this stream records nothing"); }

Result<std::unique_ptr<DeviceMemory>> Device::allocate_host(std::size_t) {
  return std::unique_ptr<DeviceMemory>();
}

DeviceKinds devices() {
  static const DeviceKind* const list[] = {
#define ATTUNE_DEVICE(kind) &kind::device_kind,
#include "targets/list.inc"
  };
  return list;
}

Result<const DeviceKind*> find_device(DeviceKinds kinds, std::string_view name) {
  std::string known;
  for (const DeviceKind* kind : kinds) {
    if (kind->name == name) return kind;
    known += (known.empty() ? "" : ", ") + std::string(kind->name);
  }
  return Error{ErrorCode::Unsupported,
               "it is made for the device '" + std::string(name) + "', which is not here",
               "compile the model for one of: " + known};
}

}  // namespace attune::runtime
