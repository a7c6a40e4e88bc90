#include "tuner/logs/importer.h"

#include <fmt/format.h>

#include "base/match.h"

namespace attune::logs {

Importer::Importer(target::Target target, std::string source, std::int64_t now_ms)
    : mapper_(std::move(target)), source_(std::move(source)), now_ms_(now_ms) {}

void Importer::take(std::string_view line) {
  ++report_.lines;
  LogLine parsed = parse_log_line(line);
  std::visit(Match{[&](const LogRecord& record) { take_record(record); },
                   [&](Skipped skipped) {
                     (skipped == Skipped::Comment      ? report_.comments
                      : skipped == Skipped::OldVersion ? report_.old_version
                                                       : report_.auto_scheduler) += 1;
                   },
                   [&](records::LineProblem& problem) {
                     problem.line = static_cast<std::size_t>(report_.lines);
                     report_.problems.push_back(std::move(problem));
                   }},
             parsed);
}

void Importer::take_record(const LogRecord& record) {
  ++report_.records;
  if (mean_seconds(record) <= 0) ++report_.failed;
  const std::string reason = place(record);
  if (!reason.empty()) ++report_.unmapped[reason];
}

std::string Importer::place(const LogRecord& record) {
  const auto workload = workload_of(record);
  if (const auto* unmapped = std::get_if<Unmapped>(&workload)) return unmapped->reason;
  const auto& known = std::get<Workload>(workload);
  const auto mapped = mapper_.task_of(known.spec);
  if (const auto* unmapped = std::get_if<Unmapped>(&mapped)) return unmapped->reason;
  MappedTask& task = *std::get<MappedTask*>(mapped);
  ++report_.with_task;
  report_.tasks.insert(task.task().spec);
  const double seconds = mean_seconds(record);
  if (seconds <= 0) {
    return record.error != 0 ? fmt::format("it failed: {}", describe_error(record.error))
                             : "it failed: no sound time";
  }
  const std::string kind = target_kind(record.target);
  if (!is_cpu(kind)) return fmt::format("a schedule for {} has no counterpart on a CPU", kind);
  auto schedule = mapper_.schedule_of(task, record, known.winograd);
  if (const auto* unmapped = std::get_if<Unmapped>(&schedule)) return unmapped->reason;
  const auto& found = std::get<MappedSchedule>(schedule);
  ++report_.mapped;
  for (const std::string& knob : found.ignored_knobs) ++report_.ignored_knobs[knob];
  const std::uint64_t hash = schedule::hash(found.trace);
  auto& hints = hints_[{task.task().key, record.target}];
  const auto [hint, added] = hints.try_emplace(hash);
  const double time_us = seconds * 1e6;
  if (!added && hint->second.time_us <= time_us) return {};
  hint->second = {.task_key = task.task().key,
                  .task_name = task.task().spec,
                  .trace = schedule::to_string(found.trace),
                  .trace_hash = hash,
                  .time_us = time_us,
                  .foreign_target = record.target,
                  .source = source_,
                  .created_at_ms = now_ms_,
                  .anchor_key = task.anchor_key(),
                  .config = found.config};
  return {};
}

std::vector<records::Hint> Importer::hints() const {
  std::vector<records::Hint> all;
  for (const auto& [place, hints] : hints_) {
    for (const auto& [hash, hint] : hints) all.push_back(hint);
  }
  return all;
}

}  // namespace attune::logs
