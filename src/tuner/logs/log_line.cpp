#include "tuner/logs/log_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/read_json.h"

namespace attune::logs {
namespace {

using nlohmann::json;

// What is wrong with the structure of a line.
struct Flaw {
  std::string near;  // a quoted word at which to point, or empty: the start
  std::string message;
};

constexpr std::pair<std::string_view, EntityKind> kKinds[] = {
    {"sp", EntityKind::Split},
    {"re", EntityKind::Reorder},
    {"an", EntityKind::Annotate},
    {"ot", EntityKind::Other},
};

constexpr double kNoTime = 1e8;  // seconds; failures are written as 1e9

const json* find(const json& object, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = object.find(name);
    if (found != object.end()) return &*found;
  }
  return nullptr;
}

std::optional<Tensor> tensor_of(const json& value) {
  if (value.size() < 3 || value[0] != "TENSOR" || !value[1].is_array() || !value[2].is_string()) {
    return std::nullopt;
  }
  Tensor tensor{{}, value[2].get<std::string>()};
  for (const json& extent : value[1]) {
    tensor.shape.push_back(extent.is_number_integer() ? extent.get<std::int64_t>() : -1);
  }
  return tensor;
}

// Reads the fields of a line one after another and remembers the first flaw.
class RecordReader {
 public:
  // What was read, whole when there is no flaw.
  LogRecord read(const json& row);
  const std::optional<Flaw>& flaw() const { return flaw_; }

 private:
  Value value_of(const json& value, int depth = 0);
  void read_input(const json& input);
  void read_entity(const json& item);
  void read_config(const json& config);
  void read_result(const json& result);
  void read_version(const json& version);
  void fail(std::string near, std::string message) {
    if (!flaw_) flaw_ = Flaw{std::move(near), std::move(message)};
  }

  LogRecord record_;
  std::optional<Flaw> flaw_;
};

Value RecordReader::value_of(const json& value, int depth) {
  constexpr int kDeepest = 16;
  if (depth > kDeepest) return fail("input", "lists are nested too deeply"), Value();
  if (value.is_boolean()) return {value.get<bool>()};
  if (value.is_number_integer()) return {value.get<std::int64_t>()};
  if (value.is_number()) return {value.get<double>()};
  if (value.is_string()) return {value.get<std::string>()};
  if (!value.is_array()) return {};
  if (auto tensor = tensor_of(value)) return {std::move(*tensor)};
  Value::List list;
  for (const json& item : value) list.push_back(value_of(item, depth + 1));
  return {std::move(list)};
}

void RecordReader::read_input(const json& input) {
  if (!input.is_array() || input.size() < 3) {
    return fail("input", "'input' is not [target, task, arguments, …]");
  }
  if (!input[0].is_string()) return fail("input", "the target is not a text");
  if (!input[1].is_string()) return fail("input", "the name of the task is not a text");
  if (!input[2].is_array()) return fail("input", "the arguments of the task are not a list");
  record_.target = input[0].get<std::string>();
  record_.task = input[1].get<std::string>();
  for (const json& argument : input[2]) record_.arguments.push_back(value_of(argument));
}

void RecordReader::read_entity(const json& item) {
  if (!item.is_array() || item.size() != 3 || !item[0].is_string() || !item[1].is_string()) {
    return fail("entity", "a knob is not [name, kind, value]");
  }
  Entity entity;
  entity.name = item[0].get<std::string>();
  const auto kind = item[1].get<std::string>();
  const auto* known = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [&](const auto& entry) { return entry.first == kind; });
  if (known == std::end(kKinds)) {
    return fail(entity.name, fmt::format("knob '{}' is of unknown kind '{}'", entity.name, kind));
  }
  entity.kind = known->second;
  entity.value = value_of(item[2]);
  const auto* list = entity.value.as<Value::List>();
  if (entity.kind != EntityKind::Other && list == nullptr) {
    return fail(entity.name, fmt::format("the value of knob '{}' is not a list", entity.name));
  }
  if (entity.kind == EntityKind::Split || entity.kind == EntityKind::Reorder) {
    for (const Value& size : *list) {
      if (size.as<std::int64_t>()) continue;
      return fail(entity.name,
                  fmt::format("knob '{}' holds something else than whole numbers", entity.name));
    }
  }
  record_.entities.push_back(std::move(entity));
}

void RecordReader::read_config(const json& config) {
  if (!config.is_object()) return fail("config", "'config' is not an object");
  if (const json* index = find(config, {"index", "i"}); index && index->is_number_integer()) {
    record_.index = index->get<std::int64_t>();
  }
  const json* entities = find(config, {"entity", "e"});
  if (!entities) return fail("config", "the configuration has no 'entity'");
  if (!entities->is_array()) return fail("entity", "'entity' is not a list");
  for (const json& item : *entities) read_entity(item);
}

void RecordReader::read_result(const json& result) {
  if (!result.is_array() || result.size() < 4) {
    return fail("result", "'result' is not [[seconds], error, seconds in all, time]");
  }
  if (!result[0].is_array()) return fail("result", "the times of the result are not a list");
  if (!result[1].is_number_integer()) return fail("result", "the error number is not a number");
  const auto error = result[1].get<std::int64_t>();
  constexpr std::int64_t kMostErrors = 1000;
  if (error < 0 || error > kMostErrors) {
    return fail("result", fmt::format("there is no error number {}", error));
  }
  record_.error = static_cast<int>(error);
  for (const json& seconds : result[0]) {
    if (seconds.is_number()) {
      record_.seconds.push_back(seconds.get<double>());
    } else if (record_.error == 0) {
      return fail("result", "a time is not a number");
    }
  }
  if (record_.error == 0 && record_.seconds.empty()) {
    return fail("result", "the result has neither times nor an error");
  }
  if (!result[2].is_number() || !result[3].is_number()) {
    return fail("result", "the last two items of the result are not numbers");
  }
  record_.all_seconds = result[2].get<double>();
  record_.unix_seconds = result[3].get<double>();
}

void RecordReader::read_version(const json& version) {
  if (!version.is_number()) return fail("version", "the version is not a number");
  if (std::abs(version.get<double>() - 0.2) < 1e-9) return;
  fail("version",
       fmt::format("version {} of the format is not known, only 0.2", version.get<double>()));
}

LogRecord RecordReader::read(const json& row) {
  if (const json* version = find(row, {"version"})) read_version(*version);
  const json* input = find(row, {"input", "i"});
  const json* config = find(row, {"config", "c"});
  const json* result = find(row, {"result", "r"});
  // Earlier still, the configuration was the last part of the input.
  if (!config && input && input->is_array() && input->size() > 4 && input->back().is_object()) {
    config = &input->back();
  }
  input ? read_input(*input) : fail("", "'input' is missing");
  config ? read_config(*config) : fail("", "'config' is missing");
  result ? read_result(*result) : fail("", "'result' is missing");
  if (const json* version = find(row, {"tvm_version"}); version && version->is_string()) {
    record_.tvm_version = version->get<std::string>();
  }
  return std::move(record_);
}

std::optional<Skipped> other_format(const json& row) {
  if (const json* version = find(row, {"v"})) {
    // The auto-scheduler says "v0.6", and its input begins with a list.
    const json* input = find(row, {"i"});
    const bool nested = input && input->is_array() && !input->empty() && (*input)[0].is_array();
    if (version->is_string() || nested) return Skipped::AutoScheduler;
    return Skipped::OldVersion;
  }
  const json* version = find(row, {"version"});
  if (version && version->is_number() && version->get<double>() < 0.15) return Skipped::OldVersion;
  return std::nullopt;
}

// Python writes numbers that JSON does not have; they become ones that no time can be.
std::string without_infinities(std::string_view line) {
  std::string text(line);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      quoted = !quoted;
    else if (!quoted && text.compare(i, 8, "Infinity") == 0)
      text.replace(i, 8, "1e9     ");
    else if (!quoted && text.compare(i, 3, "NaN") == 0)
      text.replace(i, 3, "1e9");
  }
  return text;
}

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";  // some editors begin files with it
  if (line.starts_with(kMark)) line.remove_prefix(kMark.size());
  while (!line.empty() && std::string_view(" \t\r\n").find(line.back()) != std::string_view::npos) {
    line.remove_suffix(1);
  }
  return line;
}

// The parser's own text, without its numbering and position, which the caller has.
std::string syntax_message(const json::parse_error& error) {
  const std::string_view text = error.what();
  const std::size_t at = text.find("syntax error");
  return std::string(at == std::string_view::npos ? text : text.substr(at));
}

records::LineProblem problem_of(const Flaw& flaw, std::string_view line) {
  const std::size_t at =
      flaw.near.empty() ? std::string_view::npos : line.find('"' + flaw.near + '"');
  return {1, at == std::string_view::npos ? 1 : at + 1, flaw.message};
}

}  // namespace

LogLine parse_log_line(std::string_view line) {
  const std::string_view text = trimmed(line);
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos || text[first] == '#') return Skipped::Comment;
  const std::size_t skipped = static_cast<std::size_t>(text.data() - line.data());
  if (json_depth(text) > kDeepestJson) {
    return records::LineProblem{1, skipped + first + 1,
                                fmt::format("it is nested more than {} deep", kDeepestJson)};
  }
  try {
    const json row = json::parse(without_infinities(text));
    if (!row.is_object()) {
      return records::LineProblem{1, skipped + first + 1, "a record is not a JSON object"};
    }
    if (const auto other = other_format(row)) return *other;
    RecordReader reader;
    LogRecord record = reader.read(row);
    if (reader.flaw()) return problem_of(*reader.flaw(), line);
    return record;
  } catch (const json::parse_error& error) {
    // The parser counts the bytes that it has read.
    const std::size_t column = skipped + std::max<std::size_t>(1, error.byte);
    return records::LineProblem{1, column, syntax_message(error)};
  } catch (const json::exception& error) {
    return records::LineProblem{1, skipped + first + 1, error.what()};
  }
}

double mean_seconds(const LogRecord& record) {
  if (record.error != 0 || record.seconds.empty()) return 0;
  double sum = 0;
  for (const double seconds : record.seconds) sum += seconds;
  const double mean = sum / static_cast<double>(record.seconds.size());
  return std::isfinite(mean) && mean > 0 && mean < kNoTime ? mean : 0;
}

std::string_view describe_error(int error) {
  constexpr std::string_view kErrors[] = {"",
                                          "could not be instantiated",
                                          "did not compile (host)",
                                          "did not compile (device)",
                                          "runtime error",
                                          "wrong answer",
                                          "build timed out",
                                          "run timed out",
                                          "unknown error"};
  const auto last = std::size(kErrors) - 1;
  return kErrors[std::min(static_cast<std::size_t>(std::max(error, 0)), last)];
}

bool looks_like_log(std::string_view line) {
  const json row = read_json<json>(trimmed(line));
  if (!row.is_object()) return false;
  return row.contains("input") || (row.contains("i") && row.contains("r"));
}

}  // namespace attune::logs
