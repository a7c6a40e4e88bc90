#include "app/cli/verbs.h"
#include "targets/devices/devices.h"
#include "tuner/measure/device_runner/line.h"
#include "tuner/measure/device_runner/serve.h"

namespace attune::cli {

Result<int> run_serve_device(Words, Console&) {
  return device_runner::serve(device_runner::kLine, targets::devices());
}

}  // namespace attune::cli
