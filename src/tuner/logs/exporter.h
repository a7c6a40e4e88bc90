// Records of ours as lines of an AutoTVM log: tasks under AutoTVM's names, knobs as entities, times
// in seconds, failures as its error numbers. Read back they are hints of the same schedules.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "tuner/logs/mapper.h"
#include "tuner/records/record.h"
#include "tuner/space/trace_lookup.h"

namespace attune::logs {

class Exporter {
 public:
  // `version` is this program's.
  explicit Exporter(std::string version) : version_(std::move(version)) {}

  // The line without its end, or why the record has none. `target` is the record's, resolved.
  std::variant<std::string, Unmapped> line_of(const records::Record& record,
                                              const ir::Target& target);

 private:
  struct Task {
    std::unique_ptr<MappedTask> mapped;
    std::map<std::string, space::TraceLookup> lookups;  // by algorithm
    std::string refusal;                                // why there is no such task over there
  };
  Task& task_of(const records::Record& record, const ir::Target& target);

  std::string version_;
  std::map<std::pair<std::string, std::string>, Task> tasks_;  // by name and target
};

// "llvm -keys=cpu -mtriple=… -mcpu=… -mattr=… -num-cores=N".
std::string foreign_target_text(const ir::Target& target);

}  // namespace attune::logs
