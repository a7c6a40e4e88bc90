// What the driver says of a card.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "targets/cuda/device/architecture.h"
#include "targets/cuda/device/driver.h"

namespace attune::cuda {

struct Card {
  std::string name;      // "NVIDIA H200"
  Architecture compute;  // its compute capability
  std::int64_t multiprocessors = 0;
  std::int64_t clock_mhz = 0;
  std::int64_t shared_bytes = 0;           // that a block may ask for
  std::int64_t resident_shared_bytes = 0;  // of a multiprocessor
  std::int64_t l2_bytes = 0;
  std::int64_t dram_gbps = 0;  // 0: the driver does not say
  std::int64_t memory_bytes = 0;
  int driver = 0;  // 13000: made for CUDA 13.0
};

// "NVIDIA H200, sm_90a, 139.8 GiB, driver for CUDA 13.0".
std::string to_string(const Card& card);

Result<Card> read_card(const Driver& driver, CuDevice device);
// Those that are here, at least one. Starts CUDA in this process.
Result<std::vector<Card>> read_cards(const Driver& driver);

}  // namespace attune::cuda
