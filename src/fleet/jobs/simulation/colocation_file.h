// How much stages slow each other down when they run side by side, as measured on one machine, and
// which of them must therefore be kept apart. The file is written by a calibration and read when a
// scheduler starts.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace attune::jobs {

// What stands for the stages of tuning: compiling, learning, and measuring something that is bound
// by arithmetic or by memory.
inline constexpr std::string_view kBuilding = "build", kLearning = "learn",
                                  kProfileCompute = "profile-compute",
                                  kProfileMemory = "profile-memory";

// Of a kind of stage, by name: kBuilding, kLearning or kMeasuring.
inline constexpr std::string_view kMeasuring = "profile";
struct KindLike {
  std::string_view name, like;
};

struct PairSlowdown {
  std::string stage = {}, beside = {};
  double slowdown = 1;  // of `stage`: its time beside the other ÷ alone

  friend bool operator==(const PairSlowdown&, const PairSlowdown&) = default;
};

struct CoLocationMatrix {
  std::vector<int> host_cores = {}, device_cores = {};
  int devices = 1;  // that the latter make, of equally many each
  std::vector<PairSlowdown> pairs = {};

  friend bool operator==(const CoLocationMatrix&, const CoLocationMatrix&) = default;
};

// More than this spoils a measurement.
struct CoLocationLimits {
  double compute = 1.03, memory = 1.10;
};

// Pairs of these kinds of stages, by name, that may not run at the same time.
std::vector<std::pair<std::string, std::string>> kinds_apart(const CoLocationMatrix& matrix,
                                                             std::span<const KindLike> kinds,
                                                             const CoLocationLimits& limits = {});

std::string to_json(const CoLocationMatrix& matrix);
Result<CoLocationMatrix> parse_colocation(const std::string& text);

}  // namespace attune::jobs
