// From a record of a log to a task and a schedule of ours: its workload becomes an operator spec,
// its knobs become the nearest choices of the template that schedules that operator here.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "compiler/frontend/op_spec/op_spec.h"
#include "tuner/logs/log_line.h"
#include "tuner/logs/workload.h"
#include "tuner/space/template_space.h"

namespace attune::logs {

// One algorithm of a task: a space of one alternative.
struct AlgorithmSpace {
  std::string algorithm;      // "direct"
  std::string template_name;  // "conv2d"
  std::unique_ptr<space::TemplateSpace> space;
};

class MappedTask {
 public:
  MappedTask(op_spec::OpTask task, target::Target target);

  const op_spec::OpTask& task() const { return task_; }
  const std::string& anchor_key() const { return anchor_key_; }
  // Made when first asked for; null when the task has no such algorithm.
  const AlgorithmSpace* algorithm(const std::string& name);
  // "winograd4" or another of its kind; "" when the task has none.
  std::string winograd() const;

 private:
  op_spec::OpTask task_;
  target::Target target_;
  std::string anchor_key_;
  std::map<std::string, AlgorithmSpace> spaces_;
};

struct MappedSchedule {
  schedule::Trace trace;
  std::string config;  // see adapt.h
  std::vector<std::string> ignored_knobs;
};

// The default point of a space's only alternative with the settings applied, as near as its choices
// allow. Settings that are hopeless together give way one by one, the last first, for a schedule
// that can be tried.
Result<space::Point> nearest_point(const space::TemplateSpace& space,
                                   const space::Settings& settings);

class Mapper {
 public:
  // The target must be resolved.
  explicit Mapper(target::Target target) : target_(std::move(target)) {}

  // The task of a workload; the same one whenever it is asked for.
  std::variant<MappedTask*, Unmapped> task_of(const std::string& spec);
  // The schedule of ours that is nearest to the record's.
  std::variant<MappedSchedule, Unmapped> schedule_of(MappedTask& task, const LogRecord& record,
                                                     bool winograd) const;
  const target::Target& target() const { return target_; }

 private:
  target::Target target_;
  std::map<std::string, std::variant<std::unique_ptr<MappedTask>, Unmapped>> by_spec_;
};

}  // namespace attune::logs
