#include "compiler/ops/op_list.h"

namespace attune::ops {

std::span<const OpDef> operators() {
  static const std::vector<OpDef> all = [] {
    std::vector<OpDef> list;
    for (const auto family : {
             arithmetic_operators,
             view_operators,
         }) {
      for (const OpDef& def : family()) list.push_back(def);
    }
    return list;
  }();
  return all;
}

}  // namespace attune::ops
