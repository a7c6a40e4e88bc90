// Writes one kernel as C: one function, one more for the body of each parallel loop.
#pragma once

#include <string>
#include <vector>

#include "compiler/codegen/c_text/printer.h"
#include "targets/c/codegen/kernel.h"

namespace attune::c {

class KernelPrinter final : public c_text::Printer {
 public:
  KernelPrinter(const ir::Kernel& kernel, const codegen::StoragePlan& plan,
                const PrintOptions& options);

  PrintedKernel print();

 private:
  void loop(const ir::For& x) override;
  void declare(const ir::BufferNode& buffer) override;
  void opaque(const ir::Opaque& x) override;
  std::string worker() const override { return sliced_ ? "worker" : "0"; }
  void read_again();

  // parallel.cpp
  void parallel_loop(const ir::For& x);
  void print_body(const ir::For& x, const std::string& name, const std::vector<std::string>& vars,
                  const std::vector<const ir::BufferNode*>& buffers, bool sliced);
  void print_task(const std::string& name, const std::vector<std::string>& vars,
                  const std::vector<const ir::BufferNode*>& buffers, bool sliced);
  std::string pointer_type(const ir::BufferNode& buffer) const;
  std::string parameter_type(const ir::BufferNode& buffer) const;

  const ir::Kernel& kernel_;
  const PrintOptions& options_;
  std::string function_;   // the kernel's own
  std::string functions_;  // of parallel loops, complete
  bool in_task_ = false;
  bool sliced_ = false;  // `worker` numbers a slice of the workspace
  int task_count_ = 0;
  codegen::BufferSet shared_;  // parameters that may be the same memory as another
};

}  // namespace attune::c
