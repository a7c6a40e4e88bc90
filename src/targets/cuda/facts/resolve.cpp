#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

#include "base/nearest.h"
#include "targets/cuda/device/architecture.h"
#include "targets/cuda/facts/cards_here.h"
#include "targets/cuda/facts/facts.h"
#include "targets/cuda/facts/known_cards.h"

namespace attune::cuda {
namespace {

// What the text of a resolved target says.
struct Description {
  Architecture architecture = {};
  std::int64_t multiprocessors = 0, shared_kb = 0, clock_mhz = 0, l2_mb = 0, dram_gbps = 0;
};

struct Number {
  std::string_view name;
  std::int64_t Description::*field;
  std::int64_t least, most;
};
constexpr Number kNumbers[] = {
    {kMultiprocessorCount, &Description::multiprocessors, 1, 1024},
    {kSharedKb, &Description::shared_kb, 16, 256},
    {kClockMhz, &Description::clock_mhz, 100, 10'000},
    {kL2Mb, &Description::l2_mb, 1, 1024},
    {kDramGbps, &Description::dram_gbps, 1, 100'000},
};

Description described(const KnownCard& card, const Architecture& architecture) {
  const MultiprocessorFacts& facts = *multiprocessor_facts(architecture.major, architecture.minor);
  return {architecture,   card.multiprocessors, facts.shared_kb,
          card.clock_mhz, card.l2_mb,           card.dram_gbps};
}

Result<Description> by_name(std::string_view name, std::string_view architecture) {
  const KnownCard* card = find_card(name);
  if (card == nullptr) {
    std::vector<std::string> names;
    for (const KnownCard& known : known_cards()) names.emplace_back(known.name);
    const std::string near = nearest(name, names);
    return invalid(fmt::format("unknown CUDA card '{}'", name),
                   fmt::format("{}the cards are {}; others are described by their architecture, "
                               "as in 'cuda -arch=sm_90a -multiprocessors=114'",
                               near.empty() ? "" : fmt::format("did you mean '{}'? ", near),
                               fmt::join(names, ", ")));
  }
  const Architecture own = *parse_architecture(card->architecture);
  const auto wanted = architecture.empty() ? own : parse_architecture(architecture).value_or(own);
  if (!runs_on(wanted, own)) {
    return invalid(
        fmt::format("card '{}' is {}, the target says {}", name, card->architecture, architecture),
        "leave -arch or -card out");
  }
  return described(*card, wanted);
}

Result<Description> by_architecture(const Architecture& architecture) {
  const KnownCard* card = usual_card(architecture.major, architecture.minor);
  if (card != nullptr) return described(*card, architecture);
  std::vector<std::string> known;
  for (const KnownCard& each : known_cards()) {
    if (known.empty() || known.back() != each.architecture) known.emplace_back(each.architecture);
  }
  return invalid(fmt::format("no card of CUDA architecture '{}' is known", to_string(architecture)),
                 fmt::format("the architectures are {}", fmt::join(known, ", ")));
}

// That of this machine, by the table where it is known.
Result<Description> by_card_here() {
  ATTUNE_ASSIGN(const std::vector<Card> cards, cards_here());
  const Card& card = cards.front();
  const Architecture architecture = best_for(card.compute.major, card.compute.minor);
  const MultiprocessorFacts* facts = multiprocessor_facts(architecture.major, architecture.minor);
  if (facts == nullptr) {
    return unsupported(fmt::format("{} is {}, too old for what is compiled here", card.name,
                                   to_string(card.compute)),
                       "cards since sm_70 are supported");
  }
  const KnownCard* known = card_called(card.name, card.multiprocessors);
  if (known != nullptr && *parse_architecture(known->architecture) == architecture) {
    return described(*known, architecture);
  }
  return Description{architecture,
                     card.multiprocessors,
                     card.shared_bytes >> 10,
                     card.clock_mhz,
                     std::max<std::int64_t>(card.l2_bytes >> 20, 1),
                     card.dram_gbps > 0 ? card.dram_gbps : 100};
}

Result<Description> start_of(const target::Target& target) {
  const std::string_view text = target.attribute(kArchitecture);
  const auto architecture = parse_architecture(text);
  if (!text.empty() && (!architecture || multiprocessor_facts(architecture->major,
                                                              architecture->minor) == nullptr)) {
    return invalid(fmt::format("-arch of a CUDA card is '{}'", text),
                   "write an architecture like sm_80, sm_90a or sm_120");
  }
  if (!target.attribute(kCard).empty()) return by_name(target.attribute(kCard), text);
  if (architecture) {
    // One that says everything needs no table.
    const bool whole = std::all_of(std::begin(kNumbers), std::end(kNumbers), [&](const Number& n) {
      return !target.attribute(n.name).empty();
    });
    return whole ? Description{*architecture} : by_architecture(*architecture);
  }
  return by_card_here();
}

Status set_numbers(const target::Target& target, Description& description) {
  for (const Number& number : kNumbers) {
    const std::string_view text = target.attribute(number.name);
    if (text.empty()) continue;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    if (!whole || value < number.least || value > number.most) {
      return invalid(fmt::format("-{} of a CUDA card is '{}'", number.name, text),
                     fmt::format("choose a number from {} to {}", number.least, number.most));
    }
    description.*number.field = value;
  }
  return {};
}

// The matrix instructions that warps have since sm_80.
void add_matrix_units(const MultiprocessorFacts& facts, target::LaunchFacts& launch) {
  const auto rate = static_cast<double>(facts.matrix_fmas_per_cycle);
  if (rate == 0) return;
  launch.matrix_units = {{"mma_16x8x32_f16", rate},      {"mma_16x8x16_f16", rate},
                         {"mma_16x8x32_bf16", rate},     {"mma_16x8x16_bf16", rate},
                         {"mma_16x8x16_tf32", rate / 2}, {"mma_16x8x8_tf32", rate / 2}};
}

// Instructions of warpgroups, which one architecture has: twice as many of halves as of tf32.
void add_warpgroup_units(const Architecture& architecture, target::LaunchFacts& launch) {
  static constexpr std::string_view kHalves[] = {
      "wgmma_64x32x16_f16",   "wgmma_64x64x16_f16",   "wgmma_64x96x16_f16",
      "wgmma_64x128x16_f16",  "wgmma_64x192x16_f16",  "wgmma_64x256x16_f16",
      "wgmma_64x32x16_bf16",  "wgmma_64x64x16_bf16",  "wgmma_64x96x16_bf16",
      "wgmma_64x128x16_bf16", "wgmma_64x192x16_bf16", "wgmma_64x256x16_bf16"};
  static constexpr std::string_view kTf32[] = {"wgmma_64x32x8_tf32",  "wgmma_64x64x8_tf32",
                                               "wgmma_64x96x8_tf32",  "wgmma_64x128x8_tf32",
                                               "wgmma_64x192x8_tf32", "wgmma_64x256x8_tf32"};
  if (architecture != Architecture{9, 0, 'a'}) return;
  constexpr double kFmas = 2048;
  for (const std::string_view name : kHalves) launch.matrix_units.push_back({name, kFmas});
  for (const std::string_view name : kTf32) launch.matrix_units.push_back({name, kFmas / 2});
}

target::LaunchFacts launch_facts(const Description& card, const MultiprocessorFacts& facts) {
  // Of the stated bandwidth, what copies reach.
  constexpr double kReached = 0.95;
  target::LaunchFacts launch;
  launch.multiprocessors = card.multiprocessors;
  launch.warp = 32;
  launch.threads_per_block = 1024;
  launch.shared_bytes = card.shared_kb << 10;
  launch.register_bytes = 255 * 4;
  launch.resident_threads = facts.resident_threads;
  launch.resident_blocks = facts.resident_blocks;
  launch.resident_shared_bytes = std::max(facts.resident_shared_kb, card.shared_kb + 1)
                                 << 10;  // 1 KiB is the system's
  launch.resident_register_bytes = 256 << 10;
  launch.ghz = static_cast<double>(card.clock_mhz) * 1e-3;
  launch.fmas_per_cycle = static_cast<double>(facts.fmas_per_cycle);
  launch.l2_bandwidth =
      static_cast<double>(facts.l2_bytes_per_cycle * card.multiprocessors) * launch.ghz;
  launch.dram_bandwidth = kReached * static_cast<double>(card.dram_gbps);
  launch.l2_bytes = card.l2_mb << 20;
  launch.global_latency_ns = 600;
  launch.barrier_ns = 20;
  launch.launch_us = 1;
  add_matrix_units(facts, launch);
  add_warpgroup_units(card.architecture, launch);
  return launch;
}

// The whole card as one core: what is asked of machines without looking at launches.
target::Machine machine_of(const target::LaunchFacts& launch) {
  target::Machine machine;
  machine.ghz = launch.ghz;
  machine.fma_bytes_per_cycle =
      4 * launch.fmas_per_cycle * static_cast<double>(launch.multiprocessors);
  machine.fmas_per_cycle = machine.fma_bytes_per_cycle / 16;
  machine.l2_bandwidth = machine.l3_bandwidth = launch.l2_bandwidth / launch.ghz;
  machine.load_bytes_per_cycle = machine.l2_bandwidth;
  machine.loads_per_cycle = machine.load_bytes_per_cycle / 16;
  machine.store_bytes_per_cycle = machine.load_bytes_per_cycle / 2;
  machine.dram_bandwidth = machine.exchange_bandwidth = launch.dram_bandwidth / launch.ghz;
  machine.compute_sharing = machine.l3_sharing = machine.dram_sharing = 1;
  machine.fork_join_us = launch.launch_us;
  return machine;
}

}  // namespace

Result<target::Target> resolve(const target::Target& target) {
  ATTUNE_ASSIGN(Description card, start_of(target));
  ATTUNE_RETURN_IF_ERROR(set_numbers(target, card));
  const MultiprocessorFacts& facts =
      *multiprocessor_facts(card.architecture.major, card.architecture.minor);
  target::Target resolved = target;
  resolved.attributes.clear();
  resolved.set(kArchitecture, to_string(card.architecture));
  for (const Number& number : kNumbers) {
    resolved.set(number.name, std::to_string(card.*number.field));
  }
  resolved.threads = 1;
  resolved.launch = launch_facts(card, facts);
  resolved.parallel_loops = resolved.fuses_chains = resolved.blocks_are_of_sums = false;
  resolved.machine = machine_of(resolved.launch);
  // What schedules for all targets ask for: rows of four numbers are moved at once.
  resolved.vector_bytes = 16;
  // Threads have no vector registers that tiles could spill from; the code generator counts bytes.
  resolved.vector_registers = 1 << 16;
  resolved.l1_bytes = resolved.launch.shared_bytes;
  resolved.l2_bytes = resolved.l3_bytes = resolved.launch.l2_bytes;
  return resolved;
}

}  // namespace attune::cuda
