#include "fleet/jobs/colocation_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

namespace attune::jobs {
namespace {

using Json = nlohmann::ordered_json;

// The kinds of stages that resemble each workload.
constexpr std::string_view kBuildKinds[] = {"build", "compile", "load", "prepare"};
constexpr std::string_view kLearnKinds[] = {"init", "select", "update", "history"};
constexpr std::string_view kProfileKinds[] = {"profile", "confirm", "layouts", "race", "peak"};

std::span<const std::string_view> kinds_like(std::string_view workload) {
  if (workload == kBuilding) return kBuildKinds;
  if (workload == kLearning) return kLearnKinds;
  if (workload == kProfileCompute || workload == kProfileMemory) return kProfileKinds;
  return {};
}

double limit_of(const std::string& stage, const CoLocationLimits& limits) {
  if (stage == kProfileCompute) return limits.compute;
  if (stage == kProfileMemory) return limits.memory;
  return 1e300;  // others may be slow, they measure nothing
}

Error damaged() {
  return {ErrorCode::Corrupt, "the co-location file is damaged",
          "write it anew with 'attune scheduler calibrate'"};
}

}  // namespace

std::vector<std::pair<std::string, std::string>> kinds_apart(const CoLocationMatrix& matrix,
                                                             const CoLocationLimits& limits) {
  std::vector<std::pair<std::string, std::string>> apart;
  for (const PairSlowdown& pair : matrix.pairs) {
    if (pair.slowdown <= limit_of(pair.stage, limits)) continue;
    for (const std::string_view measured : kinds_like(pair.stage)) {
      for (const std::string_view other : kinds_like(pair.beside)) {
        const std::pair<std::string, std::string> kinds(other, measured);
        const std::pair<std::string, std::string> turned(measured, other);
        const auto is_known = [&](const auto& each) { return each == kinds || each == turned; };
        if (std::none_of(apart.begin(), apart.end(), is_known)) apart.push_back(kinds);
      }
    }
  }
  return apart;
}

std::string to_json(const CoLocationMatrix& matrix) {
  Json pairs = Json::array();
  for (const PairSlowdown& pair : matrix.pairs) {
    pairs.push_back({{"stage", pair.stage}, {"beside", pair.beside}, {"slowdown", pair.slowdown}});
  }
  return Json{{"host_cores", matrix.host_cores},
              {"device_cores", matrix.device_cores},
              {"devices", matrix.devices},
              {"pairs", pairs}}
      .dump(2);
}

Result<CoLocationMatrix> parse_colocation(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return damaged();
  try {
    CoLocationMatrix matrix{.host_cores = json.at("host_cores").get<std::vector<int>>(),
                            .device_cores = json.at("device_cores").get<std::vector<int>>(),
                            .devices = json.value("devices", 1)};
    for (const Json& pair : json.at("pairs")) {
      matrix.pairs.push_back({pair.at("stage").get<std::string>(),
                              pair.at("beside").get<std::string>(),
                              pair.at("slowdown").get<double>()});
    }
    return matrix;
  } catch (const Json::exception&) {
    return damaged();
  }
}

}  // namespace attune::jobs
