#include "compiler/frontend/onnx/converters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "compiler/frontend/onnx/model_testing.h"

namespace attune::onnx {
namespace {

using Numbers = std::vector<double>;

struct Tensor {
  std::vector<std::int64_t> dims;
  Numbers values;
};

ConstantPtr constant(ir::DType type, const Tensor& tensor) {
  ir::Array array(type, tensor.dims);
  for (std::size_t i = 0; i < tensor.values.size(); ++i) {
    array.set_real(static_cast<std::int64_t>(i), tensor.values[i]);
  }
  return ops::make_constant(std::move(array));
}

// One node on constant inputs x0, x1, …, and the values of its outputs.
class NodeForTest {
 public:
  NodeForTest(const std::string& op, int opset, int outputs = 1) : model_(opset) {
    std::vector<std::string> names;
    for (int i = 0; i < outputs; ++i) {
      names.push_back("y" + std::to_string(i));
      model_.output(names.back());
    }
    node_ = &model_.node(op, {}, names, "node");
  }

  NodeForTest& input(const Tensor& tensor, ir::DType type = ir::kF32,
                     int onnx_type = ::onnx::TensorProto::FLOAT) {
    const std::string name = "x" + std::to_string(node_->input_size());
    std::vector<std::string> dims;
    for (const std::int64_t dim : tensor.dims) dims.push_back(std::to_string(dim));
    model_.input(name, dims, onnx_type);
    options_.constants[name] = constant(type, tensor);
    node_->add_input(name);
    return *this;
  }
  NodeForTest& integers(const Tensor& tensor) {
    return input(tensor, ir::kI64, ::onnx::TensorProto::INT64);
  }
  NodeForTest& bytes(const Tensor& tensor) {
    return input(tensor, ir::kU8, ::onnx::TensorProto::UINT8);
  }
  NodeForTest& absent() {
    node_->add_input("");
    return *this;
  }
  template <typename T>
  NodeForTest& attribute(const std::string& name, const T& value) {
    set_attribute(*node_, name, value);
    return *this;
  }

  Tensor output(std::size_t i = 0) {
    const auto graph = model_.import(options_);
    if (!graph.ok()) {
      ADD_FAILURE() << graph.error().message;
      return {};
    }
    const ConstantPtr value = graph->value(graph->outputs[i]).constant;
    if (value == nullptr) {
      ADD_FAILURE() << "the output is no constant";
      return {};
    }
    Tensor result{value->type.shape, {}};
    for (std::int64_t e = 0; e < value->type.elements(); ++e)
      result.values.push_back(value->real(e));
    return result;
  }
  std::string error() { return model_.error(options_); }

 private:
  ModelForTest model_;
  ::onnx::NodeProto* node_;
  ImportOptions options_;
};

TEST(Converters, NameEachOperatorOnce) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const Converter& converter : converters()) {
    EXPECT_TRUE(seen.emplace(converter.domain, converter.op).second) << converter.op;
    EXPECT_LE(converter.least_inputs, converter.most_inputs) << converter.op;
  }
}

TEST(Converters, BroadcastAsBeforeOperatorSetSeven) {
  NodeForTest node("Add", 6);
  node.input({{1, 2, 2}, {0, 0, 0, 0}}).input({{2}, {1, 2}});
  node.attribute("broadcast", std::int64_t{1}).attribute("axis", std::int64_t{1});
  EXPECT_EQ(node.output().values, (Numbers{1, 1, 2, 2}));
}

TEST(Converters, FlattenSoftmaxAsBeforeOperatorSetThirteen) {
  const Tensor x{{1, 2, 2}, {0, 0, 0, 0}};
  EXPECT_EQ(NodeForTest("Softmax", 11).input(x).output().values, (Numbers{0.25, 0.25, 0.25, 0.25}));
  EXPECT_EQ(NodeForTest("Softmax", 13).input(x).output().values, (Numbers{0.5, 0.5, 0.5, 0.5}));
}

TEST(Converters, ReduceNothing) {
  const auto reduce = [](const std::string& op) {
    return NodeForTest(op, 18).input({{2, 0}, {}}).integers({{1}, {1}}).output();
  };
  EXPECT_EQ(reduce("ReduceSum").dims, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(reduce("ReduceSum").values, (Numbers{0, 0}));
  EXPECT_EQ(reduce("ReduceProd").values, (Numbers{1, 1}));
  EXPECT_EQ(reduce("ReduceMax").values, (Numbers{-INFINITY, -INFINITY}));
  NodeForTest none("ReduceSum", 18);
  none.input({{2}, {3, 4}}).attribute("noop_with_empty_axes", std::int64_t{1});
  EXPECT_EQ(none.output().values, (Numbers{3, 4}));
}

TEST(Converters, ClipByAttributesOrInputs) {
  EXPECT_EQ(NodeForTest("Clip", 6).input({{2}, {-5, 5}}).attribute("min", -1.0F).output().values,
            (Numbers{-1, 5}));
  EXPECT_EQ(NodeForTest("Clip", 13).input({{2}, {-5, 5}}).absent().input({{}, {2}}).output().values,
            (Numbers{-5, 2}));
}

TEST(Converters, QuantizePerAxisAndBlock) {
  NodeForTest axis("DequantizeLinear", 13);
  axis.bytes({{1, 2, 2}, {1, 2, 3, 4}}).input({{2}, {1, 10}}).bytes({{2}, {0, 1}});
  EXPECT_EQ(axis.output().values, (Numbers{1, 2, 20, 30}));
  NodeForTest block("DequantizeLinear", 21);
  block.bytes({{1, 4}, {1, 2, 3, 4}}).input({{1, 2}, {1, 10}});
  block.attribute("axis", std::int64_t{1}).attribute("block_size", std::int64_t{2});
  EXPECT_EQ(block.output().dims, (std::vector<std::int64_t>{1, 4}));
  EXPECT_EQ(block.output().values, (Numbers{1, 2, 30, 40}));
}

TEST(Converters, QuantizeByTheRangeOfTheData) {
  NodeForTest node("DynamicQuantizeLinear", 11, 3);
  node.input({{3}, {0, 255, 51}});
  EXPECT_EQ(node.output(0).values, (Numbers{0, 255, 51}));
  EXPECT_EQ(node.output(1).values, (Numbers{1}));
  EXPECT_EQ(node.output(2).values, (Numbers{0}));
}

TEST(Converters, MultiplyVectorsAndNothing) {
  EXPECT_EQ(NodeForTest("MatMul", 13).input({{2}, {1, 2}}).input({{2}, {3, 4}}).output().values,
            (Numbers{11}));
  const Tensor empty = NodeForTest("MatMul", 13).input({{2, 0}, {}}).input({{0, 1}, {}}).output();
  EXPECT_EQ(empty.values, (Numbers{0, 0}));
  NodeForTest gemm("Gemm", 13);
  gemm.input({{2, 1}, {1, 2}}).input({{1, 2}, {3, 4}}).input({{1}, {100}});
  gemm.attribute("transA", std::int64_t{1}).attribute("transB", std::int64_t{1});
  gemm.attribute("alpha", 2.0F).attribute("beta", 0.5F);
  EXPECT_EQ(gemm.output().values, (Numbers{72}));
}

TEST(Converters, AttendToNothingWhereAMaskExcludesAllKeys) {
  NodeForTest node("Attention", 24, 4);
  node.input({{1, 1, 2, 1}, {1, 2}}).input({{1, 1, 2, 1}, {3, 4}}).input({{1, 1, 2, 1}, {5, 6}});
  node.input({{2, 2}, {-INFINITY, -INFINITY, -INFINITY, 0}});
  node.attribute("qk_matmul_output_mode", std::int64_t{3});
  EXPECT_EQ(node.output(0).values, (Numbers{0, 6}));
  EXPECT_EQ(node.output(3).values, (Numbers{0, 0, 0, 1}));
}

TEST(Converters, AttendToKeysWithinTheWindows) {
  const auto attend = [](std::int64_t left, std::int64_t right, std::int64_t causal) {
    NodeForTest node("Attention", 25);
    node.input({{1, 1, 4, 1}, {0, 0, 0, 0}}).input({{1, 1, 4, 1}, {0, 0, 0, 0}});
    node.input({{1, 1, 4, 1}, {12, 24, 48, 96}}).attribute("is_causal", causal);
    node.attribute("left_window_size", left).attribute("right_window_size", right);
    return node.output().values;
  };
  EXPECT_EQ(attend(0, 0, 0), (Numbers{12, 24, 48, 96}));
  EXPECT_EQ(attend(1, 0, 0), (Numbers{12, 18, 36, 72}));
  EXPECT_EQ(attend(1, -1, 1), (Numbers{12, 18, 36, 72}));
  EXPECT_EQ(attend(-1, 1, 0), (Numbers{18, 28, 45, 45}));
  EXPECT_EQ(attend(INT64_MAX, INT64_MAX, 0), (Numbers{45, 45, 45, 45}));
  NodeForTest wrong("Attention", 25);
  for (int i = 0; i < 3; ++i) wrong.input({{1, 1, 1, 1}, {0}});
  EXPECT_EQ(wrong.attribute("left_window_size", std::int64_t{-2}).error(),
            "node 'node' (Attention): windows of -2 and -1 keys, a size is -1 or not negative");
}

TEST(Converters, KnowWhatOperatorSet28Brought) {
  const Tensor gated =
      NodeForTest("SwiGLU", 28).input({{2}, {0, 50}}).input({{2}, {3, 2}}).output();
  EXPECT_EQ(gated.values, (Numbers{0, 100}));
  NodeForTest depth("SpaceToDepth", 28);
  depth.input({{1, 2, 2, 1}, {1, 2, 3, 4}}).attribute("blocksize", std::int64_t{1});
  EXPECT_EQ(depth.attribute("mode", std::string("CRD")).output().values, (Numbers{1, 2, 3, 4}));
  const auto shifted = [](const std::string& direction) {
    NodeForTest node("BitShift", 28);
    node.integers({{4}, {-8, -8, -8, 8}}).integers({{4}, {1, -1, 64, 70}});
    return node.attribute("direction", direction).output().values;
  };
  EXPECT_EQ(shifted("RIGHT"), (Numbers{-4, -1, -1, 0}));
  EXPECT_EQ(shifted("LEFT"), (Numbers{-16, 0, 0, 0}));
  NodeForTest mod("Mod", 28);
  mod.input({{5}, {-4.5, 4.5, 1, -1, 0}}).input({{5}, {3, -3, INFINITY, INFINITY, -2}});
  EXPECT_EQ(mod.output().values, (Numbers{1.5, -1.5, 1, INFINITY, -0.0}));
}

TEST(Converters, SumByLabelsWithEllipsis) {
  NodeForTest node("Einsum", 12);
  node.input({{2, 1, 2}, {1, 2, 3, 4}}).input({{2, 2, 1}, {1, 1, 2, 2}});
  node.attribute("equation", std::string("...ij, ...jk -> ...ik"));
  EXPECT_EQ(node.output().values, (Numbers{3, 14}));
  NodeForTest implicit("Einsum", 12);
  implicit.input({{1, 2}, {1, 2}}).attribute("equation", std::string("ba"));
  EXPECT_EQ(implicit.output().dims, (std::vector<std::int64_t>{2, 1}));
}

TEST(Converters, SayWhatDoesNotFit) {
  EXPECT_EQ(
      NodeForTest("Softmax", 13).input({{2}, {0, 0}}).attribute("axis", std::int64_t{3}).error(),
      "node 'node' (Softmax): axis 3 is out of range for 1 dimensions");
  EXPECT_EQ(NodeForTest("Softmax", 13).input({{2}, {0, 0}}).attribute("axis", 0.5F).error(),
            "node 'node' (Softmax): attribute 'axis' is a float, must be an integer");
  EXPECT_EQ(NodeForTest("Add", 13).input({{2}, {0, 0}}).error(),
            "node 'node' (Add): it has 1 inputs, must have 2");
  EXPECT_EQ(NodeForTest("Add", 13).input({{1}, {0}}).integers({{1}, {0}}).error(),
            "node 'node' (Add): add of f32[1] and i64[1], whose types differ");
  EXPECT_EQ(NodeForTest("Add", 13).absent().input({{1}, {0}}).error(),
            "node 'node' (Add): input 0 is left out, but is not optional");
  const Tensor image{{1, 1, 2, 2}, {1, 2, 3, 4}};
  EXPECT_EQ(NodeForTest("ConvTranspose", 11).input(image).input({{1, 1, 2}, {1, 1}}).error(),
            "node 'node' (ConvTranspose): the weight has 1 spatial dimensions, the data 2");
  EXPECT_EQ(NodeForTest("ConvTranspose", 11)
                .input(image)
                .input({{1, 1, 1, 1}, {1}})
                .attribute("output_shape", std::vector<std::int64_t>{-1, 2})
                .error(),
            "node 'node' (ConvTranspose): output_shape has the number -1");
}

}  // namespace
}  // namespace attune::onnx
