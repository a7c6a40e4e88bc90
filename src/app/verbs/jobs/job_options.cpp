#include "app/verbs/jobs/job_options.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/read_json.h"

namespace attune::verbs {
namespace {

using Json = nlohmann::ordered_json;

Error damaged(const std::string& why) {
  return {ErrorCode::Corrupt, fmt::format("the options of the job cannot be read: {}", why),
          "submit it again with this version"};
}

// Pairs, since names and paths may hold any character.
bool take_files(const Json& value, std::vector<model::NamedFile>& into) {
  if (!value.is_array()) return false;
  for (const Json& item : value) {
    const bool is_pair =
        item.is_array() && item.size() == 2 && item[0].is_string() && item[1].is_string();
    if (!is_pair) return false;
    into.push_back({item[0].get<std::string>(), item[1].get<std::string>()});
  }
  return true;
}

// Reads one field; false when its type is another.
bool take(const std::string& key, const Json& value, JobOptions& options) {
  const auto text = [&](std::string& into) {
    if (!value.is_string()) return false;
    into = value.get<std::string>();
    return true;
  };
  const auto texts = [&](std::vector<std::string>& into) {
    if (!value.is_array()) return false;
    for (const Json& item : value) {
      if (!item.is_string()) return false;
      into.push_back(item.get<std::string>());
    }
    return true;
  };
  if (key == "target") return text(options.target);
  if (key == "records") return text(options.records);
  if (key == "history") return text(options.history);
  if (key == "shapes") return texts(options.shapes);
  if (key == "constants") return texts(options.constants);
  if (key == "maxima") return texts(options.maxima);
  if (key == "inputs") return take_files(value, options.inputs);
  if (key == "precision" && value.is_string()) {
    const auto precision = ops::parse_precision(value.get<std::string>());
    if (precision.ok()) options.precision = *precision;
    return precision.ok();
  }
  if (key != "exact" || !value.is_boolean()) return false;
  options.exact = value.get<bool>();
  return true;
}

}  // namespace

std::string to_json(const JobOptions& options) {
  Json inputs = Json::array();
  for (const model::NamedFile& file : options.inputs) inputs.push_back({file.name, file.path});
  Json json{{"target", options.target},  {"exact", options.exact},
            {"shapes", options.shapes},  {"constants", options.constants},
            {"inputs", inputs},          {"records", options.records},
            {"history", options.history}};
  // Earlier programs do not know these.
  if (!options.maxima.empty()) json["maxima"] = options.maxima;
  if (options.precision) json["precision"] = ops::name_of(*options.precision);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<JobOptions> parse_job_options(const std::string& text) {
  JobOptions options;
  if (text.empty()) return options;
  const Json json = read_json<Json>(text);
  if (!json.is_object()) return damaged("it is no JSON object");
  for (const auto& [key, value] : json.items()) {
    if (!take(key, value, options)) return damaged(fmt::format("'{}' is not understood", key));
  }
  return options;
}

}  // namespace attune::verbs
