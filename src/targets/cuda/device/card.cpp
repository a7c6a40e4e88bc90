#include "targets/cuda/device/card.h"

#include <cstdio>

namespace attune::cuda {
namespace {

constexpr std::string_view kReading = "asking what the card has";

}  // namespace

std::string to_string(const Card& card) {
  char memory[32];
  std::snprintf(memory, sizeof memory, "%.1f GiB",
                static_cast<double>(card.memory_bytes) / double{1 << 30});
  return card.name + ", " + to_string(best_for(card.compute.major, card.compute.minor)) + ", " +
         memory + ", driver for CUDA " + std::to_string(card.driver / 1000) + "." +
         std::to_string(card.driver % 1000 / 10);
}

Result<Card> read_card(const Driver& driver, CuDevice device) {
  Card card;
  char name[256] = {};
  ATTUNE_RETURN_IF_ERROR(
      driver(kReading, driver.device_name, name, static_cast<int>(sizeof name - 1), device));
  card.name = name;
  const auto attribute = [&](int which) -> Result<int> {
    int value = 0;
    ATTUNE_RETURN_IF_ERROR(driver(kReading, driver.device_attribute, &value, which, device));
    return value;
  };
  ATTUNE_ASSIGN(card.compute.major, attribute(kMajor));
  ATTUNE_ASSIGN(card.compute.minor, attribute(kMinor));
  ATTUNE_ASSIGN(card.multiprocessors, attribute(kMultiprocessors));
  ATTUNE_ASSIGN(const int clock_khz, attribute(kClockKhz));
  ATTUNE_ASSIGN(card.shared_bytes, attribute(kSharedBytesOfBlock));
  ATTUNE_ASSIGN(card.resident_shared_bytes, attribute(kSharedBytesOfMultiprocessor));
  ATTUNE_ASSIGN(card.l2_bytes, attribute(kL2Bytes));
  ATTUNE_ASSIGN(const int memory_khz, attribute(kMemoryClockKhz));
  ATTUNE_ASSIGN(const int bus_bits, attribute(kMemoryBusBits));
  card.clock_mhz = clock_khz / 1000;
  // Two transfers in a cycle.
  card.dram_gbps = std::int64_t{memory_khz} * 2 * (bus_bits / 8) / 1'000'000;
  std::size_t memory_bytes = 0;
  ATTUNE_RETURN_IF_ERROR(driver(kReading, driver.device_memory, &memory_bytes, device));
  card.memory_bytes = static_cast<std::int64_t>(memory_bytes);
  ATTUNE_RETURN_IF_ERROR(driver(kReading, driver.driver_version, &card.driver));
  return card;
}

Result<std::vector<Card>> read_cards(const Driver& driver) {
  constexpr std::string_view kCounting = "looking for CUDA devices";
  ATTUNE_RETURN_IF_ERROR(driver(kCounting, driver.init, 0u));
  int count = 0;
  ATTUNE_RETURN_IF_ERROR(driver(kCounting, driver.device_count, &count));
  if (count < 1) return unsupported("a CUDA driver is here, but no card that it knows", kElsewhere);
  std::vector<Card> cards;
  for (int i = 0; i < count; ++i) {
    CuDevice device = 0;
    ATTUNE_RETURN_IF_ERROR(driver(kCounting, driver.device_get, &device, i));
    ATTUNE_ASSIGN(Card card, read_card(driver, device));
    cards.push_back(std::move(card));
  }
  return cards;
}

}  // namespace attune::cuda
