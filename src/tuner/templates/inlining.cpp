#include "tuner/templates/inlining.h"

#include <tuple>

#include "compiler/ir/nodes/rewrite.h"
#include "tuner/templates/dataflow.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

constexpr std::int64_t kLongestValue = 400;  // nodes of a value after inlining

double iterations(const ir::Stage& stage) {
  double count = 1;
  for (const auto* axes : {&stage.axes, &stage.reduce_axes}) {
    for (const ir::Axis& axis : *axes) count *= static_cast<double>(axis.extent);
  }
  return count;
}

// Whether a value hangs on a condition, such as where a border begins.
bool has_condition(const ir::Stage& stage) {
  bool found = false;
  for (const ir::Expr& value : stage.values) {
    ir::visit(value, [&](const ir::Expr& e) { found |= ir::as<ir::Select>(e) != nullptr; });
  }
  return found;
}

Inlined find_inlined(const ir::Program& program, double wasted_work,
                     const std::set<std::string>& kept, bool conditions) {
  const std::set<ir::Buffer> constants = constants_of(program);
  std::map<ir::Buffer, std::int64_t> length;  // of what is inlined
  std::vector<const ir::Stage*> chosen;
  for (const ir::Stage& stage : program.stages) {
    std::int64_t own = length_of(stage);
    for (const auto& [buffer, count] : reads_of(stage)) {
      const auto found = length.find(buffer);
      if (found != length.end()) own += count * found->second;
    }
    if (reduces(stage) || is_output(program, stage) || kept.count(stage.name) > 0) continue;
    if (constants.count(stage.outputs[0]) > 0 && !only_moves(stage)) continue;
    double reads = 0;
    std::int64_t places = 0;
    bool reduced = false;
    for (const ir::Stage* reader : readers_of(program, stage)) {
      const int count = reads_of(*reader).at(stage.outputs[0]);
      places += count;
      reads += count * iterations(*reader);
      reduced |= reduces(*reader);
    }
    const double again = reads / iterations(stage) - 1;
    // A condition would cut the vectors of a reduction at the border, in every step.
    if (!conditions && reduced && again >= 1 && has_condition(stage)) continue;
    const bool moves = only_moves(stage);
    if (!moves && static_cast<double>(own) * again > wasted_work) continue;
    if (places > 1 && own * places > kLongestValue) continue;
    length[stage.outputs[0]] = own;
    chosen.push_back(&stage);
  }
  Inlined result{{}, program};
  schedule::State state = schedule::initial_state(program);
  for (const ir::Stage* stage : chosen) {
    const schedule::Step step = schedule::Inline{stage->name};
    if (!schedule::perform(state, step).ok()) continue;
    result.steps.push_back(step);
  }
  result.program = schedule::program_of(state);
  return result;
}

}  // namespace

Inlined inline_producers(const space::Subject& subject, double wasted_work,
                         const std::set<std::string>& kept, bool conditions) {
  const ir::Program& program = subject.program;
  return *subject.findings.of<Inlined>(program, std::tuple(wasted_work, kept, conditions), [&] {
    return find_inlined(program, wasted_work, kept, conditions);
  });
}

}  // namespace attune::templates
