// CUDA cards and architectures that programs can be compiled for where they are not. A card here
// that the table knows is described by the table, so that its target is the same text everywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace attune::cuda {

// What a multiprocessor has, whatever the card.
struct MultiprocessorFacts {
  int major = 0, minor = 0;
  std::int64_t shared_kb = 0;           // that a block may ask for
  std::int64_t resident_shared_kb = 0;  // of all blocks
  std::int64_t resident_threads = 0, resident_blocks = 0;
  std::int64_t fmas_per_cycle = 0;      // of f32
  std::int64_t l2_bytes_per_cycle = 0;  // that reach it
  // Of matrix instructions of warps in f16 and bf16 with sums of f32, half as many in tf32; 0:
  // none.
  std::int64_t matrix_fmas_per_cycle = 0;
};

struct KnownCard {
  std::string_view name;          // "h200", as -card takes it
  std::string_view words;         // that the driver's name of such a card has, "H200"
  std::string_view architecture;  // "sm_90a"
  std::int64_t multiprocessors = 0, clock_mhz = 0, l2_mb = 0, dram_gbps = 0;
};

std::span<const KnownCard> known_cards();
const KnownCard* find_card(std::string_view name);
// The usual one of an architecture, its variants aside.
const KnownCard* usual_card(int major, int minor);
// The one that the driver calls so, and that has as many multiprocessors.
const KnownCard* card_called(std::string_view words, std::int64_t multiprocessors);

// Of the architecture, or the newest before it; nothing for those that are too old.
const MultiprocessorFacts* multiprocessor_facts(int major, int minor);

}  // namespace attune::cuda
