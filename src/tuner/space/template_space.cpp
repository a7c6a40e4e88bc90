#include "tuner/space/template_space.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "compiler/ir/nodes/rewrite.h"
#include "tuner/space/limits.h"

namespace attune::space {
namespace {

// Stages and the nodes of their values are what schedules and predictions walk over, again and
// again.
double effort_of(const ir::Program& program) {
  constexpr double kStageUs = 6, kNodeUs = 0.04;
  double us = 0;
  for (const ir::Stage& stage : program.stages) {
    us += kStageUs;
    for (const ir::Expr& value : stage.values) {
      ir::visit(value, [&](const ir::Expr&) { us += kNodeUs; });
    }
  }
  return us;
}

}  // namespace

std::uint64_t hash(const Point& point) {
  std::uint64_t h = hash_combine(0x5eedull, point.alternative);
  for (std::uint32_t choice : point.choices) h = hash_combine(h, choice);
  return h;
}

TemplateSpace::TemplateSpace(std::vector<NamedProgram> programs,
                             std::span<const Template> templates, target::Target target,
                             Rejection rejection)
    : target_(std::move(target)),
      rejection_(rejection),
      findings_(std::make_unique<Findings>()),
      first_index_{0} {
  for (const NamedProgram& named : programs) {
    const auto fitting = std::find_if(templates.begin(), templates.end(), [&](const Template& t) {
      return t.fits_on(subject(named.program), target_);
    });
    if (fitting == templates.end()) continue;
    add(named, *fitting);
    for (const Template& other : templates) {
      if (other.beside && other.beside(subject(named.program), target_)) add(named, other);
    }
  }
}

void TemplateSpace::add(const NamedProgram& named, const Template& schedule_template) {
  auto knobs = schedule_template.knobs(subject(named.program), target_);
  first_index_.push_back(first_index_.back() + config_count(knobs));
  alternatives_.push_back({named.name.empty() ? "direct" : named.name, named.program,
                           std::make_unique<ReplayCache>(schedule::initial_state(named.program)),
                           schedule_template, std::move(knobs), effort_of(named.program)});
}

Point TemplateSpace::point_at(std::uint64_t index) const {
  CHECK(index < size(), "index of a point out of range");
  std::uint32_t i = 0;
  while (index >= first_index_[i + 1]) ++i;
  return {i, config_at(alternatives_[i].knobs, index - first_index_[i])};
}

std::uint64_t TemplateSpace::index_of(const Point& point) const {
  return first_index_[point.alternative] + space::index_of(of(point).knobs, point.choices);
}

Point TemplateSpace::sample(Rng& rng) const {
  CHECK(!alternatives_.empty(), "the space is empty");
  Point point{static_cast<std::uint32_t>(rng.below(alternatives_.size())), {}};
  for (const Knob& knob : of(point).knobs) {
    point.choices.push_back(static_cast<std::uint32_t>(rng.below(knob.choices.size())));
  }
  return point;
}

std::vector<Point> TemplateSpace::neighbours(const Point& point) const {
  std::vector<Point> all;
  const auto& knobs = of(point).knobs;
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    for (std::uint32_t choice = 0; choice < knobs[i].choices.size(); ++choice) {
      if (choice == point.choices[i]) continue;
      all.push_back(point);
      all.back().choices[i] = choice;
    }
  }
  return all;
}

Point TemplateSpace::neighbour(const Point& point, Rng& rng) const {
  const auto& knobs = of(point).knobs;
  std::size_t open = 0;
  for (const Knob& knob : knobs) open += knob.choices.size() > 1;
  Point other = point;
  if (open == 0) return other;
  std::size_t chosen = rng.below(open);
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    const std::size_t count = knobs[i].choices.size();
    if (count < 2 || chosen-- > 0) continue;
    const auto step = static_cast<std::uint32_t>(1 + rng.below(count - 1));
    other.choices[i] = static_cast<std::uint32_t>((point.choices[i] + step) % count);
    break;
  }
  return other;
}

std::vector<Point> TemplateSpace::defaults() const {
  std::vector<Point> points;
  for (std::uint32_t i = 0; i < alternatives_.size(); ++i) {
    const Alternative& a = alternatives_[i];
    const Settings settings = a.schedule_template.default_values(subject(a.program), target_);
    points.push_back({i, nearest_config(a.knobs, settings)});
  }
  return points;
}

schedule::Trace TemplateSpace::trace_of(const Point& point) const {
  const Alternative& a = of(point);
  schedule::Trace trace =
      a.schedule_template.trace(subject(a.program), target_, Values(a.knobs, point.choices));
  if (a.algorithm != "direct") trace.insert(trace.begin(), schedule::Algorithm{a.algorithm});
  return trace;
}

Result<Scheduled> TemplateSpace::schedule_of(const Point& point) const {
  const Alternative& a = of(point);
  const Values values(a.knobs, point.choices);
  const bool hopeless = rejection_ == Rejection::Hopeless;
  if (hopeless && a.schedule_template.reject) {
    if (auto reason = a.schedule_template.reject(subject(a.program), target_, values)) {
      return unsupported(std::move(*reason));
    }
  }
  Scheduled scheduled;
  Written written = a.schedule_template.trace.written(subject(a.program), target_, values);
  if (written.state) {
    scheduled.state = std::move(*written.state);
  } else {
    ATTUNE_ASSIGN(scheduled.state, a.replays->replay(written.trace));
  }
  ATTUNE_ASSIGN(scheduled.bounds, schedule::infer_bounds(scheduled.state, schedule::Mins::Leave));
  if (auto reason = find_flaw(scheduled.state, scheduled.bounds, target_, {.spills = hopeless})) {
    return unsupported(std::string(*reason));
  }
  return scheduled;
}

std::string TemplateSpace::to_string(const Point& point) const {
  const Alternative& a = of(point);
  return fmt::format("{} {}: {}", a.algorithm, a.schedule_template.name,
                     space::to_string(a.knobs, point.choices));
}

}  // namespace attune::space
