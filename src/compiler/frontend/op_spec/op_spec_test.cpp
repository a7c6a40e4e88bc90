#include "compiler/frontend/op_spec/op_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "compiler/ops/forms/sample_spec.h"

namespace attune::op_spec {
namespace {

target::Target target_with(int vector_bytes) {
  target::Target target;
  target.vector_bytes = vector_bytes;
  return target;
}

OpTask parse(std::string_view text, int vector_bytes = 32) {
  Result<OpTask> task = parse_op_spec(text, target_with(vector_bytes));
  EXPECT_TRUE(task.ok()) << text << ": " << (task.ok() ? "" : task.error().message);
  return std::move(task).value();
}

Error failure(std::string_view text) {
  Result<OpTask> task = parse_op_spec(text, target_with(32));
  EXPECT_FALSE(task.ok()) << text;
  return task.ok() ? Error{} : task.error();
}

TEST(OpSpec, ReadsMatmul) {
  const OpTask task = parse("matmul:m=2,n=3,k=4");
  EXPECT_EQ(task.family, "matmul");
  EXPECT_EQ(task.spec, "matmul:m=2,n=3,k=4");
  EXPECT_EQ(task.flops, 48);
  EXPECT_EQ(task.algorithm, "auto");
  ASSERT_EQ(task.program.inputs.size(), 2u);
  EXPECT_EQ(task.program.inputs[1].buffer->shape, (std::vector<std::int64_t>{4, 3}));
  EXPECT_EQ(task.program.outputs[0]->shape, (std::vector<std::int64_t>{2, 3}));
}

TEST(OpSpec, PrintsCanonically) {
  EXPECT_EQ(parse("conv2d:kw=3,kh=3,oc=64,ic=64,w=56,h=56,pad=1,stride=1,n=1,dtype=f32").spec,
            "conv2d:h=56,w=56,ic=64,oc=64,kh=3,kw=3,pad=1");
  EXPECT_EQ(parse("dense:m=007,n=3,k=4,dtype=bf16").spec, "dense:m=7,n=3,k=4,dtype=bf16");
  EXPECT_EQ(parse("depthwise:h=56,w=56,c=128,k=3,stride=1,pad=1").spec,
            "depthwise:h=56,w=56,c=128,k=3");
  EXPECT_EQ(parse("depthwise:h=56,w=56,c=128,k=5,pad=1").spec,
            "depthwise:h=56,w=56,c=128,k=5,pad=1");
}

TEST(OpSpec, RowsAndColumnsMayDiffer) {
  const OpTask wide = parse("conv2d:h=17,w=17,ic=8,oc=8,kh=1,kw=7,pad=0,pad_w=3");
  EXPECT_EQ(wide.spec, "conv2d:h=17,w=17,ic=8,oc=8,kh=1,kw=7,pad_w=3");
  EXPECT_EQ(wide.program.outputs[0]->shape, (std::vector<std::int64_t>{1, 1, 17, 17, 8}));
  const OpTask uneven =
      parse("conv2d:h=8,w=8,ic=8,oc=8,kh=3,kw=3,stride=2,pad_bottom=1,pad_right=1");
  EXPECT_EQ(uneven.program.outputs[0]->shape, (std::vector<std::int64_t>{1, 1, 4, 4, 8}));
  const OpTask same = parse("conv2d:h=8,w=8,ic=8,oc=8,kh=3,kw=3,pad=1,pad_w=1,pad_right=1");
  EXPECT_EQ(same.spec, "conv2d:h=8,w=8,ic=8,oc=8,kh=3,kw=3,pad=1");
  EXPECT_EQ(
      parse("depthwise:h=8,w=9,c=8,k=3,kw=1,pad_w=0,stride=2,stride_w=1").program.outputs[0]->shape,
      (std::vector<std::int64_t>{1, 1, 4, 9, 8}));
  EXPECT_EQ(parse("conv2d_transpose:h=4,w=4,ic=8,oc=8,kh=3,kw=3,stride=2,pad=1,output_pad=1")
                .program.outputs[0]
                ->shape,
            (std::vector<std::int64_t>{1, 1, 8, 8, 8}));
}

TEST(OpSpec, KeyIsThatOfTheDirectProgram) {
  const std::string base = "conv2d:h=8,w=8,ic=16,oc=16,kh=3,kw=3";
  EXPECT_EQ(parse(base).key, parse(base + ",algo=direct").key);
  EXPECT_NE(parse(base).key, parse(base + ",pad=1").key);
  EXPECT_NE(parse(base).key, parse(base + ",dtype=bf16").key);
  EXPECT_NE(parse(base, 32).key, parse(base, 64).key);
  EXPECT_EQ(parse(base).key.size(), 16u);
  EXPECT_NE(parse("matmul:m=4,n=4,k=4").key, parse("dense:m=4,n=4,k=4").key);
}

TEST(OpSpec, BlocksFollowTheTarget) {
  const std::string spec = "conv2d:h=8,w=8,ic=20,oc=24,kh=3,kw=3";
  const auto shape = [&](int bytes) { return parse(spec, bytes).program.inputs[0].buffer->shape; };
  EXPECT_EQ(shape(32), (std::vector<std::int64_t>{1, 3, 8, 8, 8}));
  EXPECT_EQ(shape(64), (std::vector<std::int64_t>{1, 2, 8, 8, 16}));
  const auto shapes = [](const std::string& text) {
    const ir::Program& program = parse(text).program;
    return std::pair(program.inputs[0].buffer->shape.size(), program.outputs[0]->shape.size());
  };
  EXPECT_EQ(shapes(spec), std::pair(std::size_t{5}, std::size_t{5}));
  EXPECT_EQ(shapes("conv2d:h=8,w=8,ic=3,oc=24,kh=3,kw=3"),
            std::pair(std::size_t{4}, std::size_t{5}));
}

OpTask expect_readable(const std::string& spec) {
  const OpTask task = parse(spec);
  EXPECT_EQ(task.program.stages.back().name, "output") << spec;
  EXPECT_TRUE(ir::verify(task.program).ok()) << spec;
  EXPECT_EQ(parse(task.spec).key, task.key) << spec;
  return task;
}

TEST(OpSpec, ReadsEveryOperator) {
  const std::map<std::string, double> flops{
      {"matmul:m=1024,n=1024,k=1024", 2.0 * 1024 * 1024 * 1024},
      {"dense:m=2,n=3,k=4", 48},
      {"batch_matmul:b=5,m=2,n=3,k=4", 240},
      {"conv2d:n=1,h=56,w=56,ic=64,oc=64,kh=3,kw=3,stride=1,pad=1", 2.0 * 56 * 56 * 64 * 64 * 9},
      {"depthwise:h=56,w=56,c=128,k=3,stride=1", 2.0 * 56 * 56 * 128 * 9},
      {"conv2d_transpose:h=4,w=4,ic=8,oc=8,kh=4,kw=4,stride=2,pad=1", 2.0 * 16 * 64 * 16},
      {"maxpool:h=112,w=112,c=64,k=3,stride=2,pad=1", 56.0 * 56 * 64 * 9},
      {"avgpool:h=8,w=8,c=64,k=2", 4.0 * 4 * 64 * 4},
      {"attention:heads=4,m=16,n=20,d=8,kv=2", 2.0 * 4 * 16 * 20 * 16},
      {"attention:heads=4,m=16,n=20,d=8,causal=yes", 2.0 * 4 * (16 * 20 - 16 * 15 / 2) * 16},
      {"softmax:m=10,n=20", 1000},
      {"layernorm:m=10,n=20", 1600},
      {"reduce:m=10,n=20,op=argmax", 200},
      {"elementwise:m=10,n=20,op=add+relu", 400},
      {"transpose:d0=2,d1=3,d2=4,perm=021", 0},
  };
  std::set<std::string> families;
  for (const auto& [spec, count] : flops) {
    EXPECT_EQ(expect_readable(spec).flops, count) << spec;
    families.insert(spec.substr(0, spec.find(':')));
  }
  for (const ops::Family& family : ops::families()) {
    if (families.count(family.name) == 0) expect_readable(ops::sample_spec(family));
  }
}

TEST(OpSpec, AlternativesHaveTheSameInterface) {
  const OpTask task = parse("conv2d:h=8,w=8,ic=16,oc=16,kh=3,kw=3,pad=1");
  std::vector<std::string> names;
  for (const ops::AlgorithmDef& algorithm : task.alternatives) {
    names.push_back(algorithm.name);
    ASSERT_EQ(algorithm.program.inputs.size(), task.program.inputs.size());
    for (std::size_t i = 0; i < task.program.inputs.size(); ++i) {
      EXPECT_EQ(algorithm.program.inputs[i].buffer->name, task.program.inputs[i].buffer->name);
      EXPECT_EQ(algorithm.program.inputs[i].buffer->shape, task.program.inputs[i].buffer->shape);
      EXPECT_EQ(algorithm.program.inputs[i].constant, task.program.inputs[i].constant);
    }
    EXPECT_EQ(algorithm.program.outputs[0]->shape, task.program.outputs[0]->shape);
    EXPECT_EQ(algorithm.program.outputs[0]->type, task.program.outputs[0]->type);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"winograd2", "winograd4", "winograd6", "gemm"}));
  EXPECT_TRUE(parse(task.spec + ",algo=direct").alternatives.empty());
  const OpTask one = parse(task.spec + ",algo=winograd4");
  EXPECT_EQ(one.algorithm, "winograd4");
  EXPECT_EQ(one.alternatives.size(), 1u);
  EXPECT_EQ(failure("conv2d:h=8,w=8,ic=16,oc=16,kh=3,kw=3,stride=2,algo=winograd4").hint,
            "choose algo=auto or algo=direct");
}

TEST(OpSpec, UnknownOperator) {
  const Error near = failure("matmull:m=2");
  EXPECT_EQ(near.message, "unknown operator 'matmull'");
  std::vector<std::string> names;
  for (const ops::Family& family : ops::families()) names.push_back(family.name);
  const std::string all = fmt::format("the operators are {}", fmt::join(names, ", "));
  EXPECT_EQ(near.hint, "did you mean 'matmul'? " + all);
  EXPECT_EQ(failure("zzzzzzzzzzzz").hint, all);
  EXPECT_EQ(failure("").message, "unknown operator ''");
}

TEST(OpSpec, WrongKeys) {
  const Error unknown = failure("matmul:m=2,n=3,k=4,q=1");
  EXPECT_EQ(unknown.message, "matmul has no key 'q'");
  EXPECT_EQ(unknown.hint, "its keys are m, n, k, dtype (f32)");
  EXPECT_EQ(failure("matmul:m=2,n=3").message, "matmul needs k, which is missing");
  EXPECT_EQ(failure("matmul").message, "matmul needs m, n, k, which are missing");
  EXPECT_EQ(failure("depthwise:h=4").hint,
            "its keys are n (1), h, w, c, k, kw (k), stride (1), stride_w (stride), pad (k/2), "
            "pad_w (pad), pad_bottom (pad), pad_right (pad_w), dilation (1), "
            "dilation_w (dilation), dtype (f32)");
  EXPECT_EQ(failure("matmul:m=2,m=3").message, "key 'm' is given twice");
  EXPECT_EQ(failure("matmul:m").message, "'m' is not of the form key=value");
  EXPECT_EQ(failure("matmul:m=,n=1,k=1").message, "'m=' is not of the form key=value");
  EXPECT_EQ(failure("matmul:=1").message, "'=1' is not of the form key=value");
}

TEST(OpSpec, WrongValues) {
  EXPECT_EQ(failure("matmul:m=x,n=3,k=4").message, "m=x is not a whole number");
  EXPECT_EQ(failure("matmul:m=2.5,n=3,k=4").message, "m=2.5 is not a whole number");
  EXPECT_EQ(failure("matmul:m=99999999999999999999,n=3,k=4").message,
            "m=99999999999999999999 is too large");
  EXPECT_EQ(failure("matmul:m=0,n=3,k=4").message, "m is 0, must be at least 1");
  EXPECT_EQ(failure("matmul:m=2,n=-3,k=4").message, "n is -3, must be at least 1");
  EXPECT_EQ(failure("matmul:m=4294967296,n=3,k=4").message,
            "m is 4294967296, must be at most 2147483647");
  const Error type = failure("matmul:m=2,n=3,k=4,dtype=f31");
  EXPECT_EQ(type.message, "dtype=f31 is not known");
  EXPECT_EQ(type.hint, "choose one of f32, f16, bf16, i8, u8, i32, i64, bool");
  const Error refused = failure("matmul:m=2,n=3,k=4,dtype=i64");
  EXPECT_EQ(refused.message, "matmul does not take elements of type i64");
  EXPECT_EQ(refused.hint, "choose one of f32, f16, bf16, i8, u8, i32");
  EXPECT_EQ(failure("conv2d:h=8,w=8,ic=8,oc=8,kh=1,kw=1,algo=magic").message,
            "algo=magic is not known");
  EXPECT_EQ(failure("reduce:m=2,n=2,op=median").hint,
            "choose one of sum, mean, prod, max, min, argmax, argmin");
  EXPECT_EQ(failure("transpose:d0=2,d1=3,d2=4,perm=011").message, "perm=011 is not known");
  EXPECT_EQ(failure("elementwise:m=2,n=2,op=foo").message, "unknown elementwise operator 'foo'");
}

TEST(OpSpec, TooLargeForMemory) {
  const Error error = failure("matmul:m=2000000,n=4,k=2000000");
  EXPECT_EQ(error.message,
            "tensor 'a' of shape [2000000, 2000000] takes 1.49e+04 GiB, more than the limit of 64 "
            "GiB");
  EXPECT_EQ(error.hint, "choose smaller sizes");
  EXPECT_EQ(failure("conv2d:h=2000000000,w=2000000000,ic=2000000000,oc=8,kh=1,kw=1").code,
            ErrorCode::InvalidArgument);
}

TEST(OpSpec, ImpossibleConvolutions) {
  const Error large = failure("conv2d:h=5,w=5,ic=8,oc=8,kh=7,kw=3");
  EXPECT_EQ(large.message,
            "the kernel spans 7 elements (kh=7, dilation=1), the padded input only 5 (h=5, "
            "pad=0+0)");
  EXPECT_EQ(large.hint, "choose a smaller kernel or more padding");
  EXPECT_EQ(failure("conv2d:h=5,w=5,ic=8,oc=6,kh=1,kw=1,groups=4").message,
            "oc=6 is not a multiple of groups=4");
  EXPECT_EQ(failure("conv2d:h=5,w=5,ic=8,oc=8,kh=1,kw=1,stride=0").message,
            "stride is 0, must be at least 1");
  EXPECT_EQ(failure("conv2d:h=5,w=5,ic=8,oc=8,kh=1,kw=1,pad=-1").message,
            "pad is -1, must be at least 0");
  EXPECT_EQ(failure("depthwise:h=5,w=5,c=8,k=0").message, "k is 0, must be at least 1");
}

}  // namespace
}  // namespace attune::op_spec
