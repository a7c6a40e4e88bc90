// Records of ours as lines of an AutoTVM log: tasks under AutoTVM's names, knobs as entities, times
// in seconds, failures as its error numbers. Read back they are hints of the same schedules. A
// fused task of a model becomes the task of its anchor; its times include what was fused to it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "tuner/logs/mapper.h"
#include "tuner/records/record.h"
#include "tuner/records/task_definition.h"
#include "tuner/space/trace_lookup.h"

namespace attune::logs {

class Exporter {
 public:
  // What a task of a model computes, by its key; nothing when that is not known.
  using Define = std::function<std::optional<records::TaskDefinition>(const std::string& key)>;

  // `version` is this program's.
  explicit Exporter(std::string version, Define define = {})
      : version_(std::move(version)), define_(std::move(define)) {}

  // The line without its end, or why the record has none. `target` is the record's, resolved.
  std::variant<std::string, Unmapped> line_of(const records::Record& record,
                                              const target::Target& target);

 private:
  struct Task {
    std::unique_ptr<MappedTask> mapped;
    std::map<std::string, space::TraceLookup> lookups;  // by algorithm
    std::string refusal;                                // why there is no such task over there
  };
  Task& task_of(const records::Record& record, const target::Target& target);
  Task make_task(const records::Record& record, const target::Target& target) const;

  std::string version_;
  Define define_;
  std::map<std::tuple<std::string, std::string, std::string>, Task> tasks_;  // key, name, target
};

}  // namespace attune::logs
