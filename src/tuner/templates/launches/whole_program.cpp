#include "tuner/templates/launches/whole_program.h"

#include <algorithm>

#include "tuner/templates/dataflow.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

constexpr std::int64_t kThreadsAhead = 256;

}  // namespace

const ir::Stage* host_of(const ir::Program& program, const ir::Stage& reduction) {
  if (is_output(program, reduction) || reduction.outputs.size() != 1) return nullptr;
  const auto readers = readers_of(program, reduction);
  if (readers.size() != 1 || reduces(*readers[0])) return nullptr;
  const bool in_place =
      same_extents(*readers[0], reduction) && reads_at_own_index(*readers[0], reduction.outputs[0]);
  return in_place ? readers[0] : nullptr;
}

bool reads_once(const ir::Stage& reduction) {
  const auto count = [](const std::vector<ir::Axis>& axes) {
    double product = 1;
    for (const ir::Axis& axis : axes) product *= static_cast<double>(axis.extent);
    return product;
  };
  double most = 1;
  for (const auto& [buffer, reads] : reads_of(reduction)) {
    double elements = 1;
    for (const std::int64_t extent : buffer->shape) elements *= static_cast<double>(extent);
    most = std::max(most, elements);
  }
  return count(reduction.axes) * count(reduction.reduce_axes) <= 2 * most;
}

void write_others(LaunchWriter& writer, const ir::Program& program,
                  const std::set<std::string>& done, const WholeProgram& how) {
  const auto constants = constants_of(program);
  std::set<std::string> written = done;
  const auto runs = [&](const ir::Stage& stage) {
    return constants.count(stage.outputs[0]) == 0 || is_output(program, stage);
  };
  for (const ir::Stage& stage : program.stages) {
    if (!reduces(stage) || !runs(stage) || written.count(stage.name) > 0) continue;
    const ir::Stage* host = host_of(program, stage);
    if (host != nullptr && written.insert(host->name).second) {
      tile(writer, host->name, stage.name, how.tiling);
    } else {
      tile(writer, stage.name, how.tiling);
    }
    written.insert(stage.name);
  }
  for (const ir::Stage& stage : program.stages) {
    if (written.count(stage.name) > 0 || reduces(stage)) continue;
    if (runs(stage)) {
      spread(writer, stage.name, how.threads, how.per_thread);
    } else {
      spread(writer, stage.name, std::min(kThreadsAhead, writer.device().threads_per_block), 1);
    }
  }
}

}  // namespace attune::templates
