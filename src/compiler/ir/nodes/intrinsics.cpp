#include "compiler/ir/nodes/intrinsics.h"

#include <vector>

#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

namespace attune::ir {
namespace {

// A place and its strides for every operand, how far apart lanes lie for inputs of warps, and which
// inputs are rounded already.
IntrinsicDecl declaration_of(const TensorIntrinsic& intrinsic) {
  const Program program = intrinsic.program();
  std::size_t arguments = 1 + program.stages[0].axes.size() + (intrinsic.rounding.empty() ? 0 : 1);
  for (const Input& input : program.inputs) {
    arguments += 1 + input.buffer->shape.size() + (intrinsic.warp ? 1 : 0);
  }
  return {intrinsic.name, static_cast<int>(arguments), false, 1, intrinsic.meaning};
}

}  // namespace

std::span<const IntrinsicDecl> intrinsics() {
  static const std::vector<IntrinsicDecl> all = [] {
    std::vector<IntrinsicDecl> list = {
        {kLaunder, 0, true, 0, "loads before it are not merged with loads after it"},
        {kPrefetch, 2, true, 0, "brings the cache line of a load near"},
        {kWorker, 0, false, 0, "number of the running worker of the enclosing parallel loop"},
        {kAsyncCopy, 4, false, 1, "elements on their way from global to shared memory, or zeros"},
        {kAsyncCommit, 0, false, 0, "closes a group of asynchronous copies"},
        {kAsyncWait, 1, false, 0, "until all but the newest groups of copies have arrived"},
        {kMatrixFence, 0, false, 0, "registers are ready for instructions of the warpgroup"},
        {kMatrixCommit, 0, false, 0, "closes a group of instructions of the warpgroup"},
        {kMatrixWait, 1, false, 0, "until all but the newest groups of instructions are done"},
        {kBulkInit, 2, false, 1, "counters of arrivals are ready"},
        {kBulkCopy, 5, false, 1, "a piece of global memory on its way to shared memory"},
        {kBulkWait, 2, false, 0, "until the next bulk copy has arrived at a counter"},
        {kClusterBarrier, 2, false, 0, "all threads of the blocks of a cluster meet"},
        {kSharedFence, 0, false, 0, "shared memory is ready for instructions of warpgroups"},
    };
    for (const TensorIntrinsic& tensor : tensor_intrinsics())
      list.push_back(declaration_of(tensor));
    return list;
  }();
  return all;
}

const IntrinsicDecl* find_intrinsic(std::string_view name) {
  for (const IntrinsicDecl& decl : intrinsics()) {
    if (decl.name == name) return &decl;
  }
  return nullptr;
}

}  // namespace attune::ir
