#include "targets/devices/devices.h"

#include <vector>

// Each target's folder defines its own; `device_kind` in a namespace of its name.
#define ATTUNE_TOOL_DEVICE(kind)                \
  namespace attune::kind {                      \
  extern const runtime::DeviceKind device_kind; \
  }
#include "targets/list.inc"

namespace attune::targets {

runtime::DeviceKinds devices() {
  static const std::vector<const runtime::DeviceKind*> all = [] {
    const runtime::DeviceKinds carried = runtime::devices();
    std::vector<const runtime::DeviceKind*> list(carried.begin(), carried.end());
#define ATTUNE_TOOL_DEVICE(kind) list.push_back(&kind::device_kind);
#include "targets/list.inc"
    return list;
  }();
  return all;
}

}  // namespace attune::targets
