// Chains: a convolution of one tap, or the first one of a network, and the depthwise one that alone
// reads its result, as one task.
// Channels of the two belong together block by block, so that what lies between them is computed a
// few blocks at a time and never leaves the caches. The stages and inputs of the first keep their
// roles with "before." in front; the last of them, `before.output`, is the data of the second.
#pragma once

#include <optional>
#include <utility>

#include "compiler/graph/tasks/tasks.h"

namespace attune::graph {

// Whether two nodes, the second of which reads the result of the first or what elementwise nodes
// made of it, may be a chain. Layouts must be assigned.
bool may_chain(const Graph& graph, const Node& first, const Node& second);

// The groups of the two parts; nothing when the group is no chain.
std::optional<std::pair<Group, Group>> cut_chain(const Graph& graph, const Group& group);
// The task of the whole.
Task chain(Task first, Task second);

}  // namespace attune::graph
