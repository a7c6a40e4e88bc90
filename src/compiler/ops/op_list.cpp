#include "compiler/ops/op_def.h"

namespace attune::ops {

#define ATTUNE_OPERATORS(name) std::vector<OpDef> name##_operators();
#include "compiler/ops/list.inc"

std::span<const OpDef> operators() {
  static const std::vector<OpDef> all = [] {
    std::vector<OpDef> list;
    for (const auto family : {
#define ATTUNE_OPERATORS(name) name##_operators,
#include "compiler/ops/list.inc"
         }) {
      for (const OpDef& def : family()) list.push_back(def);
    }
    return list;
  }();
  return all;
}

}  // namespace attune::ops
