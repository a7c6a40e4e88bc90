#include "targets/devices/devices.h"

#define ATTUNE_DEVICE(kind)                     \
  namespace attune::kind {                      \
  extern const runtime::DeviceKind device_kind; \
  }
#define ATTUNE_TOOL_DEVICE(kind)                \
  namespace attune::kind {                      \
  extern const runtime::DeviceKind device_kind; \
  }
#include "targets/list.inc"

namespace attune::targets {

runtime::DeviceKinds devices() {
  static const runtime::DeviceKind* const list[] = {
#define ATTUNE_DEVICE(kind) &kind::device_kind,
#define ATTUNE_TOOL_DEVICE(kind) &kind::device_kind,
#include "targets/list.inc"
  };
  return list;
}

}  // namespace attune::targets
