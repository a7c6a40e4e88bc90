// Writes one launch as a __global__ function. Loops bound to the hardware are variables that its
// threads read off their place; serial loops over private memory are unrolled by the compiler, so
// that the memory becomes registers. Index arithmetic has 32 bits wherever ranges show that they
// suffice.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/codegen/c_text/printer.h"
#include "compiler/ir/nodes/launch.h"
#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"
#include "compiler/target/launch_facts.h"

namespace attune::cuda {

struct PrintedLaunch {
  std::string text;
  ir::Extents3 grid{1, 1, 1}, block{1, 1, 1};     // as it is to be launched
  std::vector<const ir::BufferNode*> parameters;  // in order
  ir::Extents3 cluster{1, 1, 1};                  // neighbouring blocks that share copies
  std::int64_t shared_bytes = 0;                  // all that a block has
  std::int64_t dynamic_bytes = 0;                 // of these, what is asked for at launch
};

class LaunchPrinter final : public c_text::Printer {
 public:
  // `buffers` are those that the launch may find in global memory, in the order of parameters.
  // One that waits may overlap with others: see LaunchImage.
  LaunchPrinter(std::string function, const ir::Stmt& body, const ir::Launch& shape,
                const std::vector<const ir::BufferNode*>& buffers, bool waits,
                const target::LaunchFacts& device);

  PrintedLaunch print();

 private:
  std::int64_t blocks_together() const;
  void loop(const ir::For& x) override;
  void barrier(const ir::Barrier& x) override;
  void allocate(const ir::Allocate& s) override;
  void declare(const ir::BufferNode& buffer) override;
  void opaque(const ir::Opaque& x) override;
  void may_be_unused(const std::string&) override {}
  void before(const ir::Stmt& s) override;
  std::string macro(const char* name, int count) const override;

  // memory.cpp
  std::string address(const ir::BufferNode& buffer, const std::string& base,
                      const Expr& at) override;
  std::string element(const ir::BufferNode& buffer, const std::string& base,
                      const Expr& at) override;
  std::string load_side_by_side(const ir::BufferNode& buffer, const Expr& first,
                                const std::string& tag, int count) override;
  void store_side_by_side(const ir::BufferNode& buffer, const Expr& first, const std::string& tag,
                          int count, const std::string& text) override;
  std::string position(const Expr& at);
  int piece_bytes(const ir::BufferNode& buffer, const Expr& first, int count) const;
  void share_memory();

  // warp_calls.cpp
  void warp_call(const ir::Opaque& x, const ir::TensorIntrinsic& intrinsic);
  std::vector<std::string> fragment(const ir::Load& tile, const std::vector<Expr>& places);
  std::string packed(const ir::Load& tile, const std::vector<Expr>& places, std::size_t first);

  // indices.cpp
  bool is_narrow(const Expr& e) const override;
  std::string variable_type(DType type, const codegen::VarFacts& facts) const override;
  std::string scalar_division(const Expr& e) override;

  // warpgroup_calls.cpp: whether it is about instructions of warpgroups
  bool warpgroup_call(const ir::Opaque& x);
  void bulk_call(const ir::Opaque& x);

  void wait();
  void bound_loop(const ir::For& x);
  std::string place_on(const std::string& axis) const;

  std::string function_;
  const ir::Stmt& body_;
  const ir::Launch& shape_;
  const std::vector<const ir::BufferNode*>& buffers_;
  const bool waits_;
  const target::LaunchFacts& device_;
  PrintedLaunch printed_;
  std::string lane_;                    // the variable of thread.x
  const ir::StmtNode* room_ = nullptr;  // before it, the next launch may begin
};

}  // namespace attune::cuda
