#include "tuner/templates/fused_stages.h"

#include <algorithm>
#include <map>
#include <set>

#include "tuner/templates/dataflow.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

// Nodes that one value behind the anchor may grow to by inlining.
constexpr std::int64_t kLongestValue = 400;

}  // namespace

FusedStages::FusedStages(const ir::Program& program, const std::vector<std::string>& own)
    : program_(program), own_(own) {
  Reads reads;
  for (const ir::Stage& stage : program.stages) reads.push_back(reads_of(stage));
  const std::vector<Role> role = roles(reads);
  if (program.outputs.size() != 1 || program.stages.back().name != "output" ||
      program.producer(program.outputs[0]) != &program.stages.back()) {
    placeable_ = false;
  }
  find_attached(role, reads);
  for (std::size_t i = 0; i < role.size(); ++i) {
    const ir::Stage& stage = program.stages[i];
    const bool reduces = stage.reduction != ir::Reduction::None;
    if (role[i] != Role::Before && role[i] != Role::Behind && role[i] != Role::Output) continue;
    placeable_ &= !reduces;
    if (role[i] == Role::Before) (only_moves(stage) ? inlined_ : computed_).push_back(&stage);
    if (role[i] != Role::Behind) continue;
    const bool attached = std::find(attached_.begin(), attached_.end(), &stage) != attached_.end();
    if (!attached) inlined_.push_back(&stage);
  }
}

std::vector<FusedStages::Role> FusedStages::roles(const Reads& reads) const {
  const auto& stages = program_.stages;
  std::vector<Role> role(stages.size(), Role::Behind);
  std::set<ir::Buffer> wanted;  // by the anchor
  const std::set<ir::Buffer> constants = constants_of(program_, reads);
  for (std::size_t i = stages.size(); i-- > 0;) {
    const ir::Stage& stage = stages[i];
    const bool own = std::find(own_.begin(), own_.end(), stage.name) != own_.end();
    if (stage.name == "anchor") {
      role[i] = Role::Anchor;
    } else if (stage.name == "output") {
      role[i] = Role::Output;
    } else if (own) {
      role[i] = Role::Own;
    } else if (constants.count(stage.outputs[0]) > 0) {
      role[i] = Role::Constant;
    } else if (wanted.count(stage.outputs[0]) > 0) {
      role[i] = Role::Before;
    }
    if (role[i] != Role::Anchor && wanted.count(stage.outputs[0]) == 0) continue;
    for (const auto& [buffer, count] : reads[i]) wanted.insert(buffer);
  }
  return role;
}

void FusedStages::find_attached(const std::vector<Role>& role, const Reads& reads) {
  std::map<ir::Buffer, std::int64_t> length, uses;
  for (const auto& of_stage : reads) {
    for (const auto& [buffer, count] : of_stage) uses[buffer] += count;
  }
  for (std::size_t i = 0; i < role.size(); ++i) {
    if (role[i] != Role::Behind) continue;
    const ir::Stage& stage = program_.stages[i];
    std::int64_t nodes = length_of(stage);
    for (const auto& [buffer, count] : reads[i]) {
      const auto found = length.find(buffer);
      if (found != length.end()) nodes += count * found->second;
    }
    const std::int64_t copies = uses[stage.outputs[0]];
    if (copies > 1 && nodes * copies > kLongestValue) {
      attached_.push_back(&stage);
    } else {
      length[stage.outputs[0]] = nodes;
    }
  }
}

void FusedStages::place(TraceWriter& t, const target::Target& target) const {
  for (const ir::Stage* stage : inlined_) t.inline_stage(stage->name);
  for (const ir::Stage* stage : computed_) run_in_vectors(t, *stage, target, 2);
}

void FusedStages::attach(TraceWriter& t, const target::Target& target,
                         const std::string& loop) const {
  for (auto i = attached_.rbegin(); i != attached_.rend(); ++i) {
    const ir::Stage& stage = **i;
    t.compute_at(stage.name, "output", loop);
    if (stage.axes.empty()) continue;
    for (std::size_t axis = 0; axis + 1 < stage.axes.size(); ++axis) {
      t.unroll(stage.name, stage.axes[axis].name);
    }
    const std::string& last = stage.axes.back().name;
    t.split(stage.name, last, {lanes_of(stage, target)});
    t.unroll(stage.name, last + ".0");
    t.vectorize(stage.name, last + ".1");
  }
}

}  // namespace attune::templates
