// Every template for blocks and threads makes kernels that NVRTC compiles, for three architectures:
// default schedules of operators that each of them is meant for, and random ones. Where there is no
// NVRTC, these tests say so and end.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "compiler/frontend/op_spec/op_spec.h"
#include "compiler/graph/tasks/product_operands.h"
#include "compiler/ir/text/parse.h"
#include "compiler/kernel/kernel.h"
#include "targets/cuda/codegen/nvrtc.h"
#include "targets/kinds.h"
#include "tuner/space/template_space.h"
#include "tuner/tunings/tunings.h"

namespace attune::test {
namespace {

constexpr const char* kArchitectures[] = {"sm_80", "sm_89", "sm_90a"};

// The template, and an operator that it schedules, on sizes that divide little.
struct Example {
  const char* schedule_template;
  const char* spec;
  const char* algorithm = "direct";
};
constexpr Example kExamples[] = {
    {"attention", "attention:heads=2,m=40,n=72,d=32"},
    {"winograd", "conv2d:h=15,w=15,ic=24,oc=20,kh=3,kw=3,pad=1", "winograd4"},
    {"tensor_products", "dense:m=64,n=96,k=128,dtype=f16"},
    {"tensor_products", "conv2d:h=13,w=13,ic=24,oc=36,kh=3,kw=3,pad=1,dtype=f16", "gemm"},
    {"tensor_products", "conv2d:h=15,w=15,ic=3,oc=20,kh=3,kw=3,stride=2,pad=1,dtype=bf16", "gemm"},
    {"products", "conv2d:h=14,w=14,ic=24,oc=36,kh=3,kw=3,stride=2,pad=1", "gemm"},
    {"products", "dense:m=3,n=100,k=136"},
    {"rows", "layernorm:m=12,n=200"},
    {"rows", "softmax:m=7,n=1000"},
    {"windows", "depthwise:h=15,w=15,c=20,k=3,stride=2"},
    {"windows", "maxpool:h=15,w=15,c=12,k=3,stride=2,pad=1"},
    {"reductions", "reduce:m=3,n=40000,op=sum"},
    {"moves", "transpose:d0=3,d1=50,d2=70,perm=021"},
    {"moves", "elementwise:m=33,n=64,op=add+relu"},
    {"windows", "conv2d:h=9,w=9,ic=8,oc=8,kh=3,kw=3,pad=1,groups=2"},
    {"windows", "conv2d_transpose:h=4,w=4,ic=8,oc=8,kh=4,kw=4,stride=2,pad=1"},
    {"products", "conv2d_transpose:h=4,w=4,ic=8,oc=12,kh=4,kw=4,stride=2,pad=1", "gemm"},
    {"products", "matmul:m=72,n=96,k=136"},
    {"launches", "reduce:m=12,n=200,op=argmax"},
};

target::Target target_for(const char* architecture) {
  return targets::resolve(targets::parse(fmt::format("cuda -arch={}", architecture)).value())
      .value();
}

const ir::Program& program_of(const op_spec::OpTask& task, const std::string& algorithm) {
  for (const ops::AlgorithmDef& each : task.alternatives) {
    if (each.name == algorithm) return each.program;
  }
  return task.program;
}

class CudaKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::Nvrtc::here().ok()) GTEST_SKIP() << cuda::Nvrtc::here().error().message;
  }

  // As its own prepare part, too.
  static void expect_compiled(const ir::Program& program, const space::Space& space,
                              const space::Point& point) {
    schedule::Trace trace = space.trace_of(point);
    if (!trace.empty() && std::get_if<schedule::Algorithm>(&trace.front())) {
      trace.erase(trace.begin());
    }
    const auto built = kernel::build(program, trace, space.target());
    EXPECT_TRUE(built.ok()) << space.to_string(point) << " on " << to_string(space.target()) << ": "
                            << built.error().message << "\n"
                            << to_string(trace);
    if (!built.ok() || !built->lowered.prepare) return;
    const auto prepare = kernel::compile(*built->lowered.prepare, space.target());
    EXPECT_TRUE(prepare.ok()) << prepare.error().message;
  }
};

class CudaTemplates : public CudaKernels, public ::testing::WithParamInterface<Example> {};

TEST_P(CudaTemplates, MakeKernelsThatCompile) {
  const Example& example = GetParam();
  Rng rng(5);
  for (const char* architecture : kArchitectures) {
    const target::Target target = target_for(architecture);
    const auto task = op_spec::parse_op_spec(example.spec, target);
    ASSERT_TRUE(task.ok()) << task.error().message;
    const ir::Program& program = program_of(*task, example.algorithm);
    const space::TemplateSpace space({{example.algorithm, program}},
                                     tunings::tuning_of(target).templates(), target);
    EXPECT_EQ(tunings::template_for(program, target).name, example.schedule_template)
        << example.spec;
    ASSERT_TRUE(space.schedule_of(space.defaults().front()).ok())
        << space.schedule_of(space.defaults().front()).error().message;
    expect_compiled(program, space, space.defaults().front());
    for (int tries = 0; tries < 200; ++tries) {
      const space::Point point = space.sample(rng);
      if (!space.schedule_of(point).ok()) continue;
      expect_compiled(program, space, point);
      break;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CudaTemplates, ::testing::ValuesIn(kExamples), [](const auto& test) {
  std::string name = test.param.spec;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

// Instructions of warpgroups do not wait for each other, which the builder would refuse.
TEST_F(CudaKernels, OfWarpgroupsCompile) {
  const target::Target target = target_for("sm_90a");
  for (const bool tf32 : {false, true}) {
    const auto task = op_spec::parse_op_spec(
        tf32 ? "dense:m=256,n=256,k=128" : "dense:m=256,n=256,k=128,dtype=f16", target);
    ASSERT_TRUE(task.ok()) << task.error().message;
    ops::Operator op{.program = task->program};
    if (tf32) graph::round_operands(op);
    const space::TemplateSpace space({{"direct", op.program}},
                                     tunings::tuning_of(target).templates(), target);
    Rng rng(3);
    int compiled = 0;
    for (int tries = 0; tries < 200 && compiled < 2; ++tries) {
      const space::Point point = tries == 0 ? space.defaults().back() : space.sample(rng);
      const bool by_warpgroups =
          space.to_string(point).find("warpgroup_products") != std::string::npos;
      ASSERT_TRUE(tries > 0 || by_warpgroups) << space.to_string(point);
      if (!by_warpgroups || !space.schedule_of(point).ok()) continue;
      expect_compiled(op.program, space, point);
      ++compiled;
    }
    EXPECT_EQ(compiled, 2);
  }
}

// A cell of two parts; nobody's operator by itself.
constexpr const char* kCell = R"(program cell {
  constant weight: f32[40, 44]
  input operand0: f32[2, 40]
  input operand1: f32[2, 22]
  stage filter(k: 40, g: 2, j: 22) = weight[k, g * 22 + j]
  stage anchor(i: 2, g: 2, j: 22) = sum(k: 40) operand0[i, k] * filter[k, g, j]
  stage 'output'(d0: 2, d1: 22) = tanh(anchor[d0, 0, d1]) * anchor[d0, 1, d1] + operand1[d0, d1]
  output 'output'
})";

TEST_F(CudaKernels, OfCellsCompile) {
  const target::Target target = target_for("sm_80");
  const auto program = ir::parse_program(kCell);
  ASSERT_TRUE(program.ok()) << program.error().message;
  EXPECT_EQ(tunings::template_for(*program, target).name, "cells");
  const auto built = kernel::build(*program, tunings::default_trace(*program, target), target);
  EXPECT_TRUE(built.ok()) << built.error().message;
}

// The table leaves nobody out.
TEST(CudaTemplateTable, HoldsEveryTemplate) {
  std::set<std::string_view> listed{"warpgroup_products", "cells"};  // no operator alone is theirs
  for (const Example& example : kExamples) listed.insert(example.schedule_template);
  for (const space::Template& each : tunings::tuning_of(target_for("sm_90a")).templates()) {
    EXPECT_EQ(listed.count(each.name), 1u) << "template '" << each.name << "' has no example";
  }
}

}  // namespace
}  // namespace attune::test
