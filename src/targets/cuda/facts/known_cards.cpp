#include "targets/cuda/facts/known_cards.h"

#include <tuple>

#include "targets/cuda/device/architecture.h"

namespace attune::cuda {
namespace {

// As CUDA's programming guide has them, in the table of compute capabilities; what reaches a
// multiprocessor from the second level of cache as it is usually measured, and so is what matrix
// instructions of warps reach on sm_90, less than its peak.
constexpr MultiprocessorFacts kMultiprocessors[] = {
    {7, 0, 96, 96, 2048, 32, 64, 32, 0},        {7, 2, 96, 96, 2048, 32, 64, 32, 0},
    {7, 5, 64, 64, 1024, 16, 64, 32, 0},        {8, 0, 163, 164, 2048, 32, 64, 32, 1024},
    {8, 6, 99, 100, 1536, 16, 128, 20, 512},    {8, 7, 163, 164, 1536, 16, 128, 20, 1024},
    {8, 9, 99, 100, 1536, 24, 128, 20, 512},    {9, 0, 227, 228, 2048, 32, 128, 32, 1232},
    {10, 0, 227, 228, 2048, 32, 128, 32, 1024}, {10, 3, 227, 228, 2048, 32, 128, 32, 1024},
    {11, 0, 227, 228, 1536, 24, 128, 20, 512},  {12, 0, 99, 100, 1536, 24, 128, 20, 512},
    {12, 1, 99, 100, 1536, 24, 128, 20, 512},
};

// As their makers state them, at the highest clock. The first of an architecture is the usual one;
// where the words of one are part of another's, the longer ones come first.
constexpr KnownCard kCards[] = {
    {"v100", "V100", "sm_70", 80, 1530, 6, 900},
    {"xavier", "Xavier", "sm_72", 8, 1377, 1, 137},
    {"t4", "T4", "sm_75", 40, 1590, 4, 320},
    {"rtx2080ti", "RTX 2080 Ti", "sm_75", 68, 1545, 5, 616},
    {"a100", "A100", "sm_80", 108, 1410, 40, 2039},
    {"a100-40gb", "A100", "sm_80", 108, 1410, 40, 1555},
    {"a30", "A30", "sm_80", 56, 1440, 24, 933},
    {"a10", "A10", "sm_86", 72, 1695, 6, 600},
    {"a40", "A40", "sm_86", 84, 1740, 6, 696},
    {"rtx3090", "RTX 3090", "sm_86", 82, 1695, 6, 936},
    {"rtx3080", "RTX 3080", "sm_86", 68, 1710, 5, 760},
    {"orin", "Orin", "sm_87", 16, 1300, 4, 204},
    {"l40s", "L40S", "sm_89", 142, 2520, 96, 864},
    {"l4", "L4", "sm_89", 58, 2040, 48, 300},
    {"rtx4090", "RTX 4090", "sm_89", 128, 2520, 72, 1008},
    {"h200", "H200", "sm_90a", 132, 1980, 60, 4800},
    {"h100", "H100", "sm_90a", 132, 1980, 50, 3350},
    {"h100-pcie", "H100", "sm_90a", 114, 1755, 50, 2039},
    {"b200", "B200", "sm_100a", 148, 1965, 126, 8000},
    {"b300", "B300", "sm_103a", 148, 1920, 126, 8000},
    {"thor", "Thor", "sm_110a", 20, 1575, 32, 273},
    {"rtx5090", "RTX 5090", "sm_120a", 170, 2407, 96, 1792},
    {"rtxpro6000", "RTX PRO 6000", "sm_120a", 188, 2430, 128, 1792},
    {"gb10", "GB10", "sm_121a", 48, 2418, 24, 273},
};

}  // namespace

std::span<const KnownCard> known_cards() { return kCards; }

const KnownCard* find_card(std::string_view name) {
  for (const KnownCard& card : kCards) {
    if (card.name == name) return &card;
  }
  return nullptr;
}

const KnownCard* usual_card(int major, int minor) {
  for (const KnownCard& card : kCards) {
    const Architecture architecture = *parse_architecture(card.architecture);
    if (architecture.major == major && architecture.minor == minor) return &card;
  }
  return nullptr;
}

const KnownCard* card_called(std::string_view words, std::int64_t multiprocessors) {
  for (const KnownCard& card : kCards) {
    const auto found = words.find(card.words);
    if (found == std::string_view::npos || card.multiprocessors != multiprocessors) continue;
    const std::string_view rest = words.substr(found + card.words.size());
    // "A10" is not the beginning of "A100".
    if (rest.empty() || rest.front() == ' ' || rest.front() == '-') return &card;
  }
  return nullptr;
}

const MultiprocessorFacts* multiprocessor_facts(int major, int minor) {
  const MultiprocessorFacts* found = nullptr;
  for (const MultiprocessorFacts& facts : kMultiprocessors) {
    if (std::tie(facts.major, facts.minor) <= std::tie(major, minor)) found = &facts;
  }
  return found;
}

}  // namespace attune::cuda
