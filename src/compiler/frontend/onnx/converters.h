// The operators of ONNX that the importer knows, each with the function that builds it. A new one
// is a function in the file of its family, its declaration below and one line in converters.cpp.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compiler/frontend/onnx/node_context.h"

namespace attune::onnx {

using Converted = Result<std::vector<ValueId>>;

// The results of an operator with one output.
inline Converted one(Result<ValueId> value) {
  if (!value.ok()) return std::move(value).error();
  return std::vector{*value};
}

inline constexpr int kAnyNumber = 1 << 20;

struct Converter {
  std::string_view domain;  // empty: ai.onnx
  std::string_view op;
  Converted (*convert)(NodeContext&);
  int least_inputs;  // so many must be there
  int most_inputs;
  std::string_view attributes;  // all that it understands, separated by spaces
};

std::span<const Converter> converters();
const Converter* find_converter(std::string_view domain, std::string_view op);

// Constants and shapes (convert_constant.cpp).
Converted convert_constant(NodeContext& node);
Converted convert_constant_of_shape(NodeContext& node);
Converted convert_identity(NodeContext& node);
Converted convert_shape(NodeContext& node);
Converted convert_size(NodeContext& node);

// Elementwise operators (convert_elementwise.cpp).
Converted convert_unary(NodeContext& node);
Converted convert_binary(NodeContext& node);
Converted convert_variadic(NodeContext& node);
Converted convert_activation(NodeContext& node);
Converted convert_bit_shift(NodeContext& node);
Converted convert_clip(NodeContext& node);
Converted convert_dropout(NodeContext& node);
Converted convert_is_inf(NodeContext& node);
Converted convert_mod(NodeContext& node);
Converted convert_prelu(NodeContext& node);
Converted convert_where(NodeContext& node);

// Casts and quantisation (convert_quantization.cpp).
Converted convert_bit_cast(NodeContext& node);
Converted convert_cast(NodeContext& node);
Converted convert_cast_like(NodeContext& node);
Converted convert_dequantize_linear(NodeContext& node);
Converted convert_dynamic_quantize_linear(NodeContext& node);
Converted convert_quantize_linear(NodeContext& node);

// Reductions, softmax and running sums (convert_reduction.cpp).
Converted convert_arg_extreme(NodeContext& node);
Converted convert_cumulative(NodeContext& node);
Converted convert_reduce(NodeContext& node);
Converted convert_softmax(NodeContext& node);

// Normalisations (convert_normalization.cpp).
Converted convert_batch_normalization(NodeContext& node);
Converted convert_group_normalization(NodeContext& node);
Converted convert_instance_normalization(NodeContext& node);
Converted convert_layer_normalization(NodeContext& node);
Converted convert_lp_normalization(NodeContext& node);
Converted convert_lrn(NodeContext& node);
Converted convert_mean_variance_normalization(NodeContext& node);
Converted convert_rms_normalization(NodeContext& node);

// Products (convert_product.cpp, convert_einsum.cpp).
Converted convert_det(NodeContext& node);
Converted convert_einsum(NodeContext& node);
Converted convert_gemm(NodeContext& node);
Converted convert_matmul(NodeContext& node);
Converted convert_matmul_integer(NodeContext& node);
Converted convert_qlinear_matmul(NodeContext& node);

// Attention and what belongs to it (convert_attention.cpp, convert_flex_attention.cpp,
// convert_state_attention.cpp).
Converted convert_attention(NodeContext& node);
Converted convert_rotary_embedding(NodeContext& node);
Converted convert_causal_conv_with_state(NodeContext& node);
Converted convert_flex_attention(NodeContext& node);
Converted convert_linear_attention(NodeContext& node);

// Losses (convert_loss.cpp).
Converted convert_negative_log_likelihood_loss(NodeContext& node);
Converted convert_softmax_cross_entropy_loss(NodeContext& node);

}  // namespace attune::onnx
