#include "fleet/jobs/simulation/colocation_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_value.h"
#include "base/read_json.h"

namespace attune::jobs {
namespace {

using Json = nlohmann::ordered_json;

// Whether stages of a kind resemble a workload that was measured.
bool is_like(const KindLike& kind, std::string_view workload) {
  if (kind.like == kMeasuring) return workload == kProfileCompute || workload == kProfileMemory;
  return kind.like == workload;
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
                                                             std::span<const KindLike> kinds,
                                                             const CoLocationLimits& limits) {
  std::vector<std::pair<std::string, std::string>> apart;
  for (const PairSlowdown& pair : matrix.pairs) {
    if (pair.slowdown <= limit_of(pair.stage, limits)) continue;
    for (const KindLike& measured : kinds) {
      for (const KindLike& other : kinds) {
        if (!is_like(measured, pair.stage) || !is_like(other, pair.beside)) continue;
        const std::pair<std::string, std::string> both(other.name, measured.name);
        const std::pair<std::string, std::string> turned(measured.name, other.name);
        const auto is_known = [&](const auto& each) { return each == both || each == turned; };
        if (std::none_of(apart.begin(), apart.end(), is_known)) apart.push_back(both);
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
  const Json json = read_json<Json>(text);
  if (!json.is_object()) return damaged();
  try {
    CoLocationMatrix matrix{
        .host_cores = json_value<std::vector<int>>(json.at("host_cores")),
        .device_cores = json_value<std::vector<int>>(json.at("device_cores")),
        .devices = json.contains("devices") ? json_value<int>(json.at("devices")) : 1};
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
