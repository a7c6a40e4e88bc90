// Maps and sets of buffers in an order that does not depend on where they lie in memory, so that
// the same kernel becomes the same code in every process.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "compiler/ir/nodes/buffer.h"

namespace attune::codegen {

struct ByName {
  bool operator()(const ir::BufferNode* a, const ir::BufferNode* b) const {
    if (const int order = a->name.compare(b->name); order != 0) return order < 0;
    return std::less<const ir::BufferNode*>()(a, b);
  }
};

template <typename T>
using BufferMap = std::map<const ir::BufferNode*, T, ByName>;
using BufferSet = std::set<const ir::BufferNode*, ByName>;

}  // namespace attune::codegen
