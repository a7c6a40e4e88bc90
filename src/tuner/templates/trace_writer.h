// Writing traces: one call per step, so that templates read like schedules; and one call per choice
// of a knob, so that what split_by, reorder_all and annotate_loops (space/knob.h) offer becomes
// steps in one way everywhere.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "compiler/schedule/trace.h"

namespace attune::templates {

class TraceWriter {
 public:
  TraceWriter() = default;
  explicit TraceWriter(schedule::Trace begun) : trace_(std::move(begun)) {}

  void split(std::string stage, std::string loop, schedule::Numbers factors) {
    trace_.push_back(schedule::Split{std::move(stage), std::move(loop), std::move(factors)});
  }
  void fuse(std::string stage, schedule::Names loops) {
    trace_.push_back(schedule::Fuse{std::move(stage), std::move(loops)});
  }
  void reorder(std::string stage, schedule::Names loops) {
    trace_.push_back(schedule::Reorder{std::move(stage), std::move(loops)});
  }
  void parallel(std::string stage, std::string loop) {
    trace_.push_back(schedule::Parallel{std::move(stage), std::move(loop)});
  }
  void vectorize(std::string stage, std::string loop) {
    trace_.push_back(schedule::Vectorize{std::move(stage), std::move(loop)});
  }
  void unroll(std::string stage, std::string loop) {
    trace_.push_back(schedule::Unroll{std::move(stage), std::move(loop)});
  }
  void compute_at(std::string stage, std::string consumer, std::string loop) {
    trace_.push_back(schedule::ComputeAt{std::move(stage), std::move(consumer), std::move(loop)});
  }
  void inline_stage(std::string stage) { trace_.push_back(schedule::Inline{std::move(stage)}); }
  void cache_read(std::string tensor, std::string consumer) {
    trace_.push_back(schedule::CacheRead{std::move(tensor), std::move(consumer)});
  }
  void cache_write(std::string stage) { trace_.push_back(schedule::CacheWrite{std::move(stage)}); }
  void rfactor(std::string stage, std::string loop) {
    trace_.push_back(schedule::Rfactor{std::move(stage), std::move(loop)});
  }
  void registers(std::string stage) {
    trace_.push_back(schedule::SetScope{std::move(stage), "register"});
  }
  void layout(std::string stage, schedule::Names terms) {
    trace_.push_back(schedule::Layout{std::move(stage), std::move(terms)});
  }
  void storage_align(std::string stage, std::int64_t factor, std::int64_t offset) {
    trace_.push_back(schedule::StorageAlign{std::move(stage), factor, offset});
  }
  void annotate(std::string stage, std::string loop, std::string key, std::string value) {
    trace_.push_back(
        schedule::Annotate{std::move(stage), std::move(loop), std::move(key), std::move(value)});
  }
  // Splits by the inner factors of a choice; the loops that this makes, outermost first.
  schedule::Names split_as(const std::string& stage, const std::string& loop,
                           std::span<const std::int64_t> factors);
  // Does with each of the loops what a choice says; the numbers are those of space::Annotation.
  void annotate_as(const std::string& stage, const schedule::Names& loops,
                   std::span<const std::int64_t> annotations);
  // Inlines the stage if the program has it.
  void inline_if_present(const ir::Program& program, const std::string& stage) {
    if (program.find_stage(stage)) inline_stage(stage);
  }

  schedule::Trace take() { return std::move(trace_); }

 private:
  schedule::Trace trace_;
};

}  // namespace attune::templates
