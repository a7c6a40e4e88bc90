// The process between the asking one and the worker. It never runs foreign code, so it can always
// say what became of a candidate: it forks workers, gives them one candidate after the other, and
// judges by shared progress and exit status when one dies or takes too long.
#pragma once

#include "base/cage/control_group.h"
#include "tuner/measure/probe/channel.h"
#include "tuner/measure/probe/runner.h"

namespace attune::probe {

// Serves measurements until the other end of the channel is gone. For a process just forked.
// `group`: that the server enters, with all that it starts; null: none.
void run_server(const Descriptor& channel, const RunnerOptions& options, const ControlGroup* group);

}  // namespace attune::probe
