#include "app/api/fallbacks.h"

#include <nlohmann/json.hpp>

namespace attune::api {

nlohmann::ordered_json fallbacks_json(const Fallbacks& fallbacks) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Fallback& fallback : fallbacks) {
    list.push_back({{"key", fallback.key},
                    {"name", fallback.task},
                    {"wanted", fallback.wanted},
                    {"used", fallback.used},
                    {"reason", fallback.reason}});
  }
  return list;
}

}  // namespace attune::api
