// The space of a task by templates: every algorithm (a program that computes the same) is an
// alternative, scheduled by the first template that fits it, and once more by each of those that
// have something for it beside that.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tuner/space/findings.h"
#include "tuner/space/replay_cache.h"
#include "tuner/space/space.h"
#include "tuner/space/template.h"

namespace attune::space {

// "direct", or the name of an algorithm, which traces then begin with.
struct NamedProgram {
  std::string name;
  ir::Program program;
};

// What is rejected: all that there is a reason against, or only what is illegal or would take the
// machine's memory or minutes of compiling.
enum class Rejection : std::uint8_t { Hopeless, Impossible };

class TemplateSpace : public Space {
 public:
  // Programs that no template fits add nothing; with no alternative at all the space is empty.
  TemplateSpace(std::vector<NamedProgram> programs, std::span<const Template> templates,
                target::Target target, Rejection rejection = Rejection::Hopeless);

  std::uint64_t size() const override { return first_index_.back(); }
  Point point_at(std::uint64_t index) const override;
  std::uint64_t index_of(const Point& point) const override;
  Point sample(Rng& rng) const override;
  std::vector<Point> neighbours(const Point& point) const override;
  Point neighbour(const Point& point, Rng& rng) const override;
  std::vector<Point> defaults() const override;
  schedule::Trace trace_of(const Point& point) const override;
  Result<Scheduled> schedule_of(const Point& point) const override;
  std::string to_string(const Point& point) const override;
  const target::Target& target() const override { return target_; }
  std::size_t alternatives() const override { return alternatives_.size(); }
  const std::vector<Knob>& knobs(std::uint32_t alternative) const override {
    return alternatives_[alternative].knobs;
  }
  double effort_us(std::uint32_t alternative) const override {
    return alternatives_[alternative].effort_us;
  }

 private:
  struct Alternative {
    std::string algorithm;
    ir::Program program;
    std::unique_ptr<ReplayCache> replays;
    Template schedule_template;
    std::vector<Knob> knobs;
    double effort_us;
  };
  void add(const NamedProgram& named, const Template& schedule_template);
  const Alternative& of(const Point& point) const { return alternatives_[point.alternative]; }
  Subject subject(const ir::Program& program) const { return {program, *findings_}; }

  target::Target target_;
  Rejection rejection_;
  std::unique_ptr<Findings> findings_;  // of all its programs
  std::vector<Alternative> alternatives_;
  std::vector<std::uint64_t> first_index_;  // of each alternative, and the total
};

}  // namespace attune::space
