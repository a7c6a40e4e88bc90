// NVIDIA's management library on the fake card: it stands where $ATTUNE_LIBNVML says.
#include <cstring>

#include "targets/cuda/device/test_driver/fake_call.h"

using namespace attune::cuda;

FAKE int nvmlInit_v2() { return 0; }
FAKE int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** card) {
  *card = &fake_card();
  return std::strcmp(bus, "0000:01:00.0") == 0 ? 0 : 2;
}
FAKE int nvmlDeviceGetClockInfo(void*, int which, unsigned* mhz) {
  *mhz = which == 1 ? 1980 : 3201;
  return 0;
}
FAKE int nvmlDeviceGetTemperature(void*, int, unsigned* degrees) {
  *degrees = 41;
  return 0;
}
FAKE int nvmlDeviceGetPowerUsage(void*, unsigned*) { return 3; }  // not supported
