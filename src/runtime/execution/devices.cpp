#include "runtime/execution/device.h"

// Each target's folder defines its own; `device_kind` in a namespace of its name.
#define ATTUNE_DEVICE(kind)                     \
  namespace attune::kind {                      \
  extern const runtime::DeviceKind device_kind; \
  }
#include "targets/list.inc"

namespace attune::runtime {

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
