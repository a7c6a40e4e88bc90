#include "tuner/templates/attention_facts.h"

#include <algorithm>

#include "compiler/ir/nodes/rewrite.h"
#include "tuner/templates/dataflow.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {

std::optional<Queries> queries_of(const ir::Program& program) {
  std::optional<Queries> found;
  ir::visit(program.find_stage(kFirst)->values[0], [&](const ir::Expr& e) {
    const auto* load = ir::as<ir::Load>(e);
    if (!load) return;
    Queries queries{load->buffer->name, program.producer(load->buffer), load->index.size()};
    for (std::size_t d = 0; d < load->index.size(); ++d) {
      const auto* variable = ir::as<ir::Var>(load->index[d]);
      if (variable && variable->name == "i") queries.i = static_cast<int>(d);
      if (variable && variable->name == "k") queries.k = static_cast<int>(d);
    }
    if (queries.i >= 0 && queries.k >= 0) found = queries;
  });
  return found;
}

std::vector<Mask> masks_of(const ir::Program& program, const Queries& queries) {
  std::vector<Mask> masks;
  std::vector<const ir::Stage*> stages = inlined_stages(program, queries);
  stages.push_back(program.find_stage(kScores));
  // What stands before the product is part of its operands.
  std::erase_if(stages, [first = program.find_stage(kFirst)](const ir::Stage* stage) {
    return stage < first;
  });
  const auto dimension = [](const ir::Load& load, const std::string& axis) {
    const auto found = std::find_if(load.index.begin(), load.index.end(), [&](const ir::Expr& e) {
      const auto* variable = ir::as<ir::Var>(e);
      return variable && variable->name == axis;
    });
    return static_cast<std::size_t>(found - load.index.begin());
  };
  for (const ir::Stage* stage : stages) {
    if (stage->axes.size() < 2) continue;
    ir::visit(stage->values[0], [&](const ir::Expr& e) {
      const auto* load = ir::as<ir::Load>(e);
      if (!load || program.producer(load->buffer)) return;
      const std::size_t rank = load->index.size();
      const std::size_t i = dimension(*load, stage->axes[stage->axes.size() - 2].name);
      const std::size_t j = dimension(*load, stage->axes.back().name);
      const std::string& name = load->buffer->name;
      const bool known = std::any_of(masks.begin(), masks.end(),
                                     [&](const Mask& mask) { return mask.tensor == name; });
      if (i == rank || j == rank || known) return;
      const auto input = std::find_if(
          program.inputs.begin(), program.inputs.end(),
          [&](const ir::Input& candidate) { return candidate.buffer == load->buffer; });
      masks.push_back({name, input->constant, rank, i, j});
    });
  }
  return masks;
}

bool sees_by_place(const ir::Program& program) {
  // Sums of rows in whole have no other condition.
  return ir::as<ir::Select>(program.find_stage(kSum)->values[0]) != nullptr;
}

std::vector<const ir::Stage*> inlined_stages(const ir::Program& program, const Queries& queries) {
  std::vector<const ir::Stage*> stages;
  const std::set<ir::Buffer> constants = constants_of(program);
  for (const ir::Stage& stage : program.stages) {
    if (!stage.name.starts_with("scores.") || stage.name == kScores || stage.name == kFirst ||
        stage.name == queries.tensor || constants.count(stage.outputs[0]) > 0) {
      continue;
    }
    stages.push_back(&stage);
  }
  return stages;
}

FusedStages fused_around_attention(const ir::Program& program) {
  std::vector<std::string> own;
  for (const ir::Stage& stage : program.stages) {
    for (const char* prefix : {"scores.", "weights.", "total.", "parts", "mixed"}) {
      if (stage.name.starts_with(prefix)) own.push_back(stage.name);
    }
  }
  return {program, own};
}

bool is_attention(const ir::Program& program) {
  const ir::Stage* scores = program.find_stage(kScores);
  const ir::Stage* first = program.find_stage(kFirst);
  const ir::Stage* second = program.find_stage("anchor");
  const ir::Stage* output = program.find_stage("output");
  if (!scores || !first || !second || !output || !program.find_stage(kMax) ||
      !program.find_stage(kExp) || !program.find_stage(kSum)) {
    return false;
  }
  const std::size_t rank = output->axes.size();
  const bool batched = rank == 3;
  const auto is_product = [&](const ir::Stage& stage, const char* part) {
    std::vector<std::string> axes =
        batched ? std::vector<std::string>{"b", "i"} : std::vector<std::string>{"i"};
    if (*part != 0) axes.push_back(part);
    axes.push_back("j");
    return has_axes(stage, axes, {"k"});
  };
  const auto queries = queries_of(program);
  if ((rank != 2 && rank != 3) || !is_product(*first, "") ||
      !is_product(*second, program.find_stage(kParts) ? "c" : "") || !queries ||
      !same_extents(*first, *scores)) {
    return false;
  }
  const auto inlined = inlined_stages(program, *queries);
  return std::none_of(inlined.begin(), inlined.end(),
                      [](const ir::Stage* stage) { return reduces(*stage); }) &&
         fused_around_attention(program).placeable();
}

}  // namespace attune::templates
