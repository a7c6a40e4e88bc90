#include "targets/cuda/facts/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

#include "targets/cuda/device/architecture.h"
#include "targets/cuda/facts/cards_here.h"

namespace attune::cuda {
namespace {

constexpr std::array<std::string_view, 7> kAttributes = {
    kCard, kArchitecture, kMultiprocessorCount, kSharedKb, kClockMhz, kL2Mb, kDramGbps};

Status check_runs_here(const target::Target& resolved) {
  ATTUNE_ASSIGN(const std::vector<Card> cards, cards_here());
  const Card& card = cards.front();
  const std::string_view architecture = resolved.attribute(kArchitecture);
  const std::string here = to_string(best_for(card.compute.major, card.compute.minor));
  if (!runs_on(*parse_architecture(architecture), card.compute)) {
    return unsupported(fmt::format("target '{}' is not the card here, {}, which is {}",
                                   architecture, card.name, here),
                       "leave -arch out, or use compile, which works for any target");
  }
  if (resolved.launch.shared_bytes > card.shared_bytes) {
    return unsupported(
        fmt::format("blocks of the target have {} KiB of shared memory, those of {} only {}",
                    resolved.launch.shared_bytes >> 10, card.name, card.shared_bytes >> 10),
        "leave -shared_kb out, or use compile, which works for any target");
  }
  return {};
}

target::Requirements requirements(const target::Target& resolved) {
  return {.architecture = std::string(resolved.attribute(kArchitecture)), .own_memory = true};
}

std::string_view processor(const target::Target& resolved) {
  return resolved.attribute(kArchitecture);
}

// AutoTVM's logs of such targets name schedules of another form.
std::string no_autotvm_text(const target::Target&) { return {}; }

Result<std::vector<std::string>> devices_here() {
  ATTUNE_ASSIGN(const std::vector<Card> cards, look_for_cards());
  std::vector<std::string> lines;
  for (const Card& card : cards) lines.push_back(to_string(card));
  return lines;
}

constexpr std::array<target::Library, 1> kLibraries = {
    {{"cuda", [] { return open_driver().ok(); }}}};

bool has_tf32(const target::Target& resolved) {
  const auto& units = resolved.launch.matrix_units;
  return std::any_of(units.begin(), units.end(), [](const target::MatrixUnit& unit) {
    return unit.intrinsic.ends_with("_tf32");
  });
}

}  // namespace

const target::Kind target_kind = {
    .name = "cuda",
    .meaning = "an NVIDIA card of this machine, or another that code is compiled for",
    .example = "cuda -arch=sm_90a",
    .device = "cuda",
    .attributes = kAttributes,
    .resolve = resolve,
    .check_runs_here = check_runs_here,
    .requirements = requirements,
    .processor = processor,
    .autotvm_text = no_autotvm_text,
    .devices_here = devices_here,
    .libraries = kLibraries,
    .has_tf32 = has_tf32,
};

}  // namespace attune::cuda
