// Operators of models that carry a state from token to token: linear attention and the convolution
// that goes before it.
#include <fmt/format.h>

#include <cmath>

#include "compiler/frontend/onnx/shape_converters.h"

namespace attune::onnx {
namespace {

// Tokens are unrolled; more than this would make a graph of unwieldy size.
constexpr std::int64_t kMostTokens = 512;

// One call of LinearAttention, computed in f32 (or f64) token by token.
class LinearAttention {
 public:
  explicit LinearAttention(NodeContext& node) : node_(node) {}

  Converted convert() {
    ATTUNE_RETURN_IF_ERROR(read_sizes());
    ATTUNE_ASSIGN(ValueId state, first_state());
    std::vector<ValueId> outputs;
    for (std::int64_t t = 0; t < tokens_; ++t) {
      ATTUNE_RETURN_IF_ERROR(read_token(t));
      state = updated(state);
      const ValueId y = make("mul", {make("matmul", {query_, state}), scalar(scale_)});
      outputs.push_back(make("reshape", {y}, {{"shape", Extents{batch_, 1, heads_ * values_}}}));
    }
    if (node_.failed()) return std::vector{kNoValue};
    ATTUNE_ASSIGN(ValueId y, node_.add("concat", outputs, {{"axis", std::int64_t{1}}}));
    ATTUNE_ASSIGN(y, node_.cast(y, node_.dtype(node_.input(0))));
    const ir::DType state_type = node_.dtype(node_.has(3) ? node_.input(3) : node_.input(0));
    ATTUNE_ASSIGN(state, node_.cast(state, state_type));
    return std::vector{y, state};
  }

 private:
  ValueId make(std::string op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    return node_.make(std::move(op), std::move(inputs), std::move(attributes));
  }
  ValueId scalar(double value) { return node_.scalar(wide_, value); }

  Status read_sizes() {
    const Extents q = node_.shape(node_.input(0)), k = node_.shape(node_.input(1)),
                  v = node_.shape(node_.input(2));
    heads_ = node_.integer("q_num_heads", 0), groups_ = node_.integer("kv_num_heads", 0);
    const bool fits = q.size() == 3 && k.size() == 3 && v.size() == 3 && heads_ > 0 &&
                      groups_ > 0 && heads_ % groups_ == 0 && q[2] % heads_ == 0 &&
                      k[2] == groups_ * (q[2] / heads_) && v[2] % groups_ == 0 && q[0] == k[0] &&
                      k[0] == v[0] && q[1] == k[1] && k[1] == v[1];
    if (!fits) return invalid("queries, keys and values do not fit together");
    if (q[1] > kMostTokens) {
      return unsupported(fmt::format("{} tokens are more than {}", q[1], kMostTokens));
    }
    batch_ = q[0], tokens_ = q[1], size_ = q[2] / heads_, values_ = v[2] / groups_;
    wide_ = node_.dtype(node_.input(0)) == ir::kF64 ? ir::kF64 : ir::kF32;
    scale_ = node_.real("scale", 0);
    if (scale_ == 0) scale_ = 1 / std::sqrt(static_cast<double>(size_));
    rule_ = node_.word("update_rule", "gated_delta");
    const bool gated = rule_ == "gated" || rule_ == "gated_delta";
    const bool delta = rule_ == "delta" || rule_ == "gated_delta";
    if (!gated && !delta && rule_ != "linear") {
      return invalid(fmt::format("update_rule '{}' is not known", rule_));
    }
    if (gated && !node_.has(4)) return invalid(fmt::format("'{}' needs decay", rule_));
    if (delta && !node_.has(5)) return invalid(fmt::format("'{}' needs beta", rule_));
    gated_ = gated, delta_ = delta;
    for (const std::size_t i : {std::size_t{4}, std::size_t{5}}) {
      const Extents& shape = node_.shape(node_.input(i));
      if (node_.has(i) && (shape.size() != 3 || shape[0] != batch_ || shape[1] != tokens_)) {
        return invalid(fmt::format("{} does not have one row for each token",
                                   ops::to_string(node_.type(node_.input(i)))));
      }
    }
    return {};
  }

  Result<ValueId> first_state() {
    const Extents shape{batch_, groups_, size_, values_};
    if (!node_.has(3)) {
      return node_.filled(wide_, shape, 0);
    }
    if (node_.shape(node_.input(3)) != shape) {
      return invalid(fmt::format("past_state is {}, which does not fit",
                                 ops::to_string(node_.type(node_.input(3)))));
    }
    return node_.cast(node_.input(3), wide_);
  }

  // Row t of a packed operand, in the given shape.
  Status read(std::size_t i, std::int64_t t, const Extents& shape, ValueId& into) {
    auto row = slice_axis(node_, node_.input(i), 1, t, 1);
    if (row.ok()) row = node_.cast(*row, wide_);
    if (row.ok()) row = node_.reshape(*row, shape);
    if (!row.ok()) return row.error();
    into = *row;
    return {};
  }

  Status read_token(std::int64_t t) {
    ATTUNE_RETURN_IF_ERROR(read(0, t, {batch_, groups_, heads_ / groups_, size_}, query_));
    ATTUNE_RETURN_IF_ERROR(read(1, t, {batch_, groups_, 1, size_}, key_row_));
    ATTUNE_RETURN_IF_ERROR(read(1, t, {batch_, groups_, size_, 1}, key_));
    ATTUNE_RETURN_IF_ERROR(read(2, t, {batch_, groups_, 1, values_}, value_));
    const auto per_head = [&](std::size_t i) {
      const Extents& shape = node_.shape(node_.input(i));
      const std::int64_t last = shape.empty() ? 0 : shape.back();
      return last == 1         ? Extents{batch_, 1, 1, 1}
             : last == groups_ ? Extents{batch_, groups_, 1, 1}
                               : Extents{batch_, groups_, size_, 1};
    };
    if (gated_) ATTUNE_RETURN_IF_ERROR(read(4, t, per_head(4), decay_));
    if (delta_) ATTUNE_RETURN_IF_ERROR(read(5, t, per_head(5), rate_));
    return {};
  }

  ValueId updated(ValueId state) {
    if (gated_) state = make("mul", {make("exp", {decay_}), state});
    ValueId added = value_;
    if (delta_) {  // what the state does not give for this key yet
      const ValueId known = make("matmul", {key_row_, state});
      added = make("mul", {rate_, make("sub", {value_, known})});
    }
    return make("add", {state, make("mul", {key_, added})});
  }

  NodeContext& node_;
  std::string rule_;
  bool gated_ = false, delta_ = false;
  ir::DType wide_ = ir::kF32;
  double scale_ = 1;
  std::int64_t batch_ = 0, tokens_ = 0, heads_ = 0, groups_ = 0, size_ = 0, values_ = 0;
  ValueId query_ = kNoValue, key_ = kNoValue, key_row_ = kNoValue, value_ = kNoValue;
  ValueId decay_ = kNoValue, rate_ = kNoValue;
};

}  // namespace

Converted convert_linear_attention(NodeContext& node) { return LinearAttention(node).convert(); }

// A convolution of each channel with what came before it; the state is the end of that.
Converted convert_causal_conv_with_state(NodeContext& node) {
  const ValueId x = node.input(0), weight = node.input(1);
  const Extents shape = node.shape(x), taps = node.shape(weight);
  const bool fits =
      shape.size() == 3 && taps.size() == 3 && taps[0] == shape[1] && taps[1] == 1 && taps[2] > 0;
  if (!fits) {
    return invalid(fmt::format("input {} and weight {} do not fit together",
                               ops::to_string(node.type(x)), ops::to_string(node.type(weight))));
  }
  const std::int64_t before = taps[2] - 1;
  ValueId padded = x;
  if (before > 0) {
    ValueId past = node.input(3);
    if (past == kNoValue) {
      ATTUNE_ASSIGN(past, node.filled(node.dtype(x), {shape[0], shape[1], before}, 0));
    }
    ATTUNE_ASSIGN(padded, node.add("concat", {past, x}, {{"axis", std::int64_t{2}}}));
  }
  std::vector<ValueId> operands{padded, weight};
  if (node.has(2)) operands.push_back(node.input(2));
  ATTUNE_ASSIGN(ValueId y, node.add("conv", std::move(operands),
                                    {{"kernel_shape", Extents{taps[2]}},
                                     {"strides", Extents{1}},
                                     {"pads", Extents{0, 0}},
                                     {"dilations", Extents{1}},
                                     {"group", shape[1]}}));
  const std::string activation = node.word("activation", "none");
  if (activation == "silu" || activation == "swish") {
    ATTUNE_ASSIGN(y, node.add("silu", {y}));
  } else if (activation != "none" && !activation.empty()) {
    return invalid(fmt::format("activation '{}' is not known", activation));
  }
  std::vector<ValueId> results{y};
  if (node.wants_output(1)) {
    if (before == 0) {
      results.push_back(
          node.constant(ops::filled_constant({node.dtype(x), {shape[0], shape[1], 0}, {}}, 0)));
    } else {
      ATTUNE_ASSIGN(const ValueId state,
                    slice_axis(node, padded, 2, node.shape(padded)[2] - before, before));
      results.push_back(state);
    }
  }
  return results;
}

}  // namespace attune::onnx
