#include "tests/support/defects/launch_defects.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/ir/text/parse.h"
#include "compiler/ir/text/print.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/trace.h"

namespace attune::test {

ir::Kernel lowered(const KernelSource& source) {
  const auto program = ir::parse_program(source.program);
  CHECK(program.ok(), program.error().message);
  const auto state = schedule::replay(*program, schedule::parse_trace(source.trace).value());
  CHECK(state.ok(), state.error().message);
  lower::Options options;
  options.pipeline = lower::launch_pipeline();
  const auto result = lower::lower(*state, options);
  CHECK(result.ok(), result.error().message);
  return result->main;
}

LaunchRun run_kernel(const ir::Kernel& kernel, const ir::LaunchOptions& options) {
  LaunchRun run;
  for (const ir::Buffer& param : kernel.params) {
    ir::Array array(param->type, param->shape);
    for (std::int64_t i = 0; i < array.count(); ++i) {
      array.set_real(i, static_cast<double>(i * 7 % 17) - 8);
    }
    run.arrays.push_back(std::move(array));
  }
  const auto inputs = static_cast<int>(run.arrays.size()) - 1;
  auto findings = ir::run_launches(kernel, run.arrays, inputs, options);
  EXPECT_TRUE(findings.ok()) << findings.error().message;
  if (findings.ok()) run.findings = std::move(*findings);
  return run;
}

LaunchRun expect_no_findings(const ir::Kernel& kernel) {
  LaunchRun run = run_kernel(kernel);
  for (const ir::Finding& finding : run.findings) {
    ADD_FAILURE() << to_string(finding.kind) << ": " << finding.text << "\n"
                  << ir::to_string(kernel);
  }
  return run;
}

void expect_each_found(std::span<const Defect> defects) {
  for (const Defect& defect : defects) {
    SCOPED_TRACE(defect.name);
    const ir::Kernel kernel = lowered(defect.source);
    const ir::Kernel broken = defect.mutate(kernel);
    ASSERT_NE(ir::to_string(kernel), ir::to_string(broken)) << "nothing was mutated";
    std::string found;
    bool named = false;
    for (const ir::Finding& finding : run_kernel(broken).findings) {
      named |= finding.kind == defect.kind;
      found += fmt::format("{}: {}\n", to_string(finding.kind), finding.text);
    }
    EXPECT_TRUE(named) << "expected: " << to_string(defect.kind) << "\nfound:\n"
                       << found << ir::to_string(broken);
  }
}

}  // namespace attune::test
