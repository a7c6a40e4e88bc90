#include "compiler/ir/intrinsics.h"

namespace attune::ir {

std::span<const IntrinsicDecl> intrinsics() {
  static constexpr IntrinsicDecl all[] = {
      {kLaunder, 0, true, "loads before it are not merged with loads after it"},
      {kPrefetch, 2, true, "brings the cache line of a load near"},
      {kWorker, 0, false, "number of the running worker of the enclosing parallel loop"},
  };
  return all;
}

const IntrinsicDecl* find_intrinsic(std::string_view name) {
  for (const IntrinsicDecl& decl : intrinsics()) {
    if (decl.name == name) return &decl;
  }
  return nullptr;
}

}  // namespace attune::ir
