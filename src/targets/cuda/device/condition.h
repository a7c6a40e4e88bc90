// How a card is at this moment: clocks, temperature and power, as NVIDIA's management library says,
// which is opened when it is asked.
#pragma once

#include <string>

#include "targets/cuda/device/context.h"

namespace attune::cuda {

// "1980 MHz, memory 3201 MHz, 41 °C, 312 W"; empty where nobody knows.
std::string condition_of(const Context& context);

}  // namespace attune::cuda
