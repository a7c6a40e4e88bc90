#include <nlohmann/json.hpp>

#include "tuner/logs/log_line.h"

namespace attune::logs {
namespace {

using nlohmann::json;

json json_of(const Value& value) {
  if (const auto* flag = value.as<bool>()) return *flag;
  if (const auto* number = value.as<std::int64_t>()) return *number;
  if (const auto* number = value.as<double>()) return *number;
  if (const auto* text = value.as<std::string>()) return *text;
  if (const auto* tensor = value.as<Tensor>()) {
    return json::array({"TENSOR", json(tensor->shape), tensor->dtype});
  }
  if (const auto* list = value.as<Value::List>()) {
    json items = json::array();
    for (const Value& item : *list) items.push_back(json_of(item));
    return items;
  }
  return nullptr;
}

std::string name_of(EntityKind kind) {
  switch (kind) {
    case EntityKind::Split:
      return "sp";
    case EntityKind::Reorder:
      return "re";
    case EntityKind::Annotate:
      return "an";
    case EntityKind::Other:
      break;
  }
  return "ot";
}

}  // namespace

std::string to_log_line(const LogRecord& record) {
  using nlohmann::ordered_json;
  json entities = json::array();
  for (const Entity& entity : record.entities) {
    entities.push_back(json::array({entity.name, name_of(entity.kind), json_of(entity.value)}));
  }
  const ordered_json row{
      {"input",
       json::array({record.target, record.task, json_of({record.arguments}), json::object()})},
      {"config",
       ordered_json{{"index", record.index}, {"code_hash", nullptr}, {"entity", entities}}},
      {"result",
       json::array({json(record.seconds), record.error, record.all_seconds, record.unix_seconds})},
      {"version", 0.2},
      {"tvm_version", record.tvm_version}};
  return row.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace attune::logs
