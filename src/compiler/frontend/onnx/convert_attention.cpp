// Attention, with grouped heads, caches and masks, as the products and sums it is made of; and the
// rotation of queries and keys by position.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/import.h"

namespace attune::onnx {
namespace {

using Shape = std::vector<std::int64_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Attention {
 public:
  explicit Attention(NodeContext& node) : node_(node) {}

  Converted convert() {
    ATTUNE_RETURN_IF_ERROR(read_operands());
    ATTUNE_RETURN_IF_ERROR(check_shapes());
    const ValueId scores = scaled_product();
    ValueId capped = scores;
    if (const double cap = node_.real("softcap", 0); cap > 0) {
      const ValueId limit = scalar(cap);
      capped = make("mul", {limit, make("tanh", {make("div", {scores, limit})})});
    }
    in_band_ = !node_.has(6) && !node_.failed() && node_.type(capped).is_static();
    ATTUNE_ASSIGN(const ValueId bias, bias_of());
    const ValueId added = bias == kNoValue ? capped : make("add", {capped, bias});
    const ValueId biased = banded(added);
    const ValueId weights = softmax(biased, biased != capped);
    const ValueId y = make("matmul", {weights, grouped(value_, true)});
    if (node_.failed()) return std::vector{kNoValue};
    const std::int64_t mode = node_.integer("qk_matmul_output_mode", 0);
    const ValueId seen[] = {scores, capped, biased, weights};
    if (mode < 0 || mode > 3) return invalid(fmt::format("qk_matmul_output_mode is {}", mode));
    std::vector<ValueId> results{output(y), key_, value_, kNoValue};
    if (node_.wants_output(3)) {
      results[3] = make("reshape", {seen[mode]}, {{"shape", Shape{batch_, heads_, rows_, keys_}}});
    }
    return results;
  }

 private:
  ValueId make(std::string op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    return node_.make(std::move(op), std::move(inputs), std::move(attributes));
  }
  ValueId scalar(double value) { return node_.scalar(type_, value); }

  // [batch, heads, sequence, size] from that or from [batch, sequence, heads * size].
  Result<ValueId> with_heads(ValueId x, std::string_view attribute) {
    if (node_.rank(x) == 4) return x;
    const Shape shape = node_.shape(x);
    const std::int64_t heads = node_.integer(attribute, 0);
    if (shape.size() != 3 || heads < 1 || shape[2] % heads != 0) {
      return invalid(fmt::format("{} does not divide into {} = {} heads",
                                 ops::to_string(node_.type(x)), attribute, heads));
    }
    ATTUNE_ASSIGN(const ValueId split,
                  node_.reshape(x, {shape[0], shape[1], heads, shape[2] / heads}));
    return node_.add("transpose", {split}, {{"perm", Shape{0, 2, 1, 3}}});
  }

  Status read_operands() {
    flat_ = node_.rank(node_.input(0)) == 3;
    type_ = node_.dtype(node_.input(0));
    const auto read = [&](std::size_t i, std::string_view heads, ValueId& into) -> Status {
      auto value = with_heads(node_.input(i), heads);
      if (!value.ok()) return value.error();
      into = *value;
      return {};
    };
    ATTUNE_RETURN_IF_ERROR(read(0, "q_num_heads", query_));
    ATTUNE_RETURN_IF_ERROR(read(1, "kv_num_heads", key_));
    ATTUNE_RETURN_IF_ERROR(read(2, "kv_num_heads", value_));
    if (node_.has(4) != node_.has(5)) return invalid("past_key and past_value go together");
    if (!node_.has(4)) return {};
    past_ = node_.rank(node_.input(4)) == 4 ? node_.shape(node_.input(4))[2] : 0;
    const auto join = [&](std::size_t i, ValueId& value) -> Status {
      auto joined = node_.add("concat", {node_.input(i), value}, {{"axis", std::int64_t{2}}});
      if (!joined.ok()) return joined.error();
      value = *joined;
      return {};
    };
    ATTUNE_RETURN_IF_ERROR(join(4, key_));
    return join(5, value_);
  }

  Status check_shapes() {
    const Shape q = node_.shape(query_), k = node_.shape(key_), v = node_.shape(value_);
    const bool fits = q.size() == 4 && k.size() == 4 && v.size() == 4 && q[0] == k[0] &&
                      k[0] == v[0] && k[1] == v[1] && k[2] == v[2] && q[3] == k[3] && k[1] > 0 &&
                      q[1] % k[1] == 0 && type_.is_float();
    if (!fits) {
      return invalid(fmt::format("queries {}, keys {} and values {} do not fit together",
                                 ops::to_string(node_.type(query_)),
                                 ops::to_string(node_.type(key_)),
                                 ops::to_string(node_.type(value_))));
    }
    batch_ = q[0], heads_ = q[1], rows_ = q[2], size_ = q[3];
    groups_ = k[1], keys_ = k[2];
    return {};
  }

  // With fewer heads of keys than of queries, [batch, groups, heads of a group, …].
  ValueId grouped(ValueId x, bool shared) {
    if (groups_ == heads_ || node_.failed()) return x;
    const Shape& shape = node_.shape(x);
    const std::int64_t each = shared ? 1 : heads_ / groups_;
    return make("reshape", {x}, {{"shape", Shape{batch_, groups_, each, shape[2], shape[3]}}});
  }

  // Numbers of 16 bits are scaled before they are multiplied, so that no product overflows.
  ValueId scaled_product() {
    const double scale = node_.real("scale", 1 / std::sqrt(static_cast<double>(size_)));
    const bool first = type_.bits <= 16;
    const ValueId root = scalar(std::sqrt(scale));
    const ValueId q = first ? make("mul", {query_, root}) : query_;
    const ValueId turned = make("transpose", {key_}, {{"perm", Shape{0, 1, 3, 2}}});
    const ValueId k = first ? make("mul", {turned, root}) : turned;
    const ValueId product = make("matmul", {grouped(q, false), grouped(k, true)});
    return first ? product : make("mul", {product, scalar(scale)});
  }

  // Rows that a mask excludes as a whole are 0.
  ValueId softmax(ValueId scores, bool masked) {
    if (node_.failed()) return kNoValue;
    Attributes last{{"axis", std::int64_t{node_.rank(scores) - 1}}};
    if (masked) last["masked"] = std::int64_t{1};
    const auto precision = static_cast<std::int32_t>(node_.integer("softmax_precision", 0));
    const auto wide = element_type(precision);
    if (precision == 0 || !wide.ok() || *wide == type_) return make("softmax", {scores}, last);
    const ValueId cast = make("cast", {scores}, {{"to", ir::to_string(*wide)}});
    return make("cast", {make("softmax", {cast}, last)}, {{"to", ir::to_string(type_)}});
  }

  // 0 where the condition holds, minus infinity elsewhere.
  ValueId allowed(ValueId condition) {
    return make("where", {condition, scalar(0), scalar(-kInfinity)});
  }

  ValueId positions(std::int64_t count, std::int64_t first, bool column) {
    Shape values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(first + i);
    const ValueId line = node_.integers_constant(values);
    return column ? make("reshape", {line}, {{"shape", Shape{count, 1}}}) : line;
  }

  // What is added to the scores: the mask given, the one of causality, that of padding.
  Result<ValueId> bias_of() {
    std::vector<ValueId> terms;
    if (node_.has(3)) {
      ATTUNE_ASSIGN(const ValueId mask, mask_of(node_.input(3)));
      terms.push_back(mask);
    }
    ValueId lengths = kNoValue;
    if (node_.has(6)) {
      ATTUNE_ASSIGN(lengths, node_.cast(node_.input(6), ir::kI64));
      ATTUNE_ASSIGN(lengths, node_.reshape(lengths, {batch_, 1, 1, 1}));
      terms.push_back(allowed(make("less", {positions(keys_, 0, false), lengths})));
    }
    ATTUNE_RETURN_IF_ERROR(read_windows());
    if (!in_band_) add_windows(lengths, terms);
    ValueId bias = kNoValue;
    for (const ValueId term : terms) bias = bias == kNoValue ? term : make("add", {bias, term});
    if (bias == kNoValue || node_.failed()) return kNoValue;
    return grouped_mask(bias);
  }

  // Which keys a query sees by its own place among them: none behind it (is_causal), none that are
  // further away than the windows are wide.
  Status read_windows() {
    const std::int64_t left = node_.integer("left_window_size", -1);
    const std::int64_t right = node_.integer("right_window_size", -1);
    if (left < -1 || right < -1) {
      return invalid(
          fmt::format("windows of {} and {} keys, a size is -1 or not negative", left, right));
    }
    // No key is further away than all of them and those before the first.
    const std::int64_t furthest = keys_ + rows_ + past_;
    if (left >= 0) left_ = std::min(left, furthest);
    if (right >= 0) right_ = std::min(right, furthest);
    if (node_.flag("is_causal")) right_ = 0;
    return {};
  }

  // The windows around places that are known now.
  ValueId banded(ValueId scores) {
    if (!in_band_ || (!left_ && !right_)) return scores;
    return make(
        "band_mask", {scores},
        {{"low", left_ ? past_ - *left_ : -rows_}, {"high", right_ ? past_ + *right_ : keys_}});
  }

  // The same where that depends on data.
  void add_windows(ValueId lengths, std::vector<ValueId>& terms) {
    if (!left_ && !right_) return;
    ValueId place = positions(rows_, past_, true);
    if (lengths != kNoValue) {  // the last query stands at the end of what is not padding
      const auto rows = static_cast<double>(rows_);
      const ValueId shift = make("sub", {lengths, node_.scalar(ir::kI64, rows)});
      place = make("add", {positions(rows_, 0, true), shift});
    }
    const ValueId key = positions(keys_, 0, false);
    const auto moved = [&](std::int64_t distance) {
      return make("add", {place, node_.scalar(ir::kI64, static_cast<double>(distance))});
    };
    if (left_) terms.push_back(allowed(make("less_or_equal", {moved(-*left_), key})));
    if (right_) terms.push_back(allowed(make("less_or_equal", {key, moved(*right_)})));
  }

  // A mask of bool or numbers; columns that it lacks are not to be seen.
  Result<ValueId> mask_of(ValueId mask) {
    if (node_.dtype(mask).is_bool()) {
      mask = allowed(mask);
    } else {
      ATTUNE_ASSIGN(mask, node_.cast(mask, type_));
    }
    const Shape shape = node_.shape(mask);
    if (node_.failed() || shape.empty() || shape.back() == 1 || shape.back() >= keys_) return mask;
    Shape pads(2 * shape.size(), 0);
    pads.back() = keys_ - shape.back();
    return node_.add("pad", {mask, scalar(-kInfinity)},
                     {{"pads", pads}, {"mode", std::string("constant")}});
  }

  // Heads of masks are split into groups like those of queries.
  Result<ValueId> grouped_mask(ValueId mask) {
    if (groups_ == heads_) return mask;
    Shape shape = node_.shape(mask);
    if (shape.size() < 3) return mask;
    const std::int64_t heads = shape[shape.size() - 3];
    shape[shape.size() - 3] = heads == 1 ? 1 : groups_;
    shape.insert(shape.end() - 2, heads == 1 ? 1 : heads_ / groups_);
    return node_.reshape(mask, std::move(shape));
  }

  // In the shape of the query: with heads, or flat again.
  ValueId output(ValueId y) {
    const std::int64_t size = node_.shape(value_)[3];
    ValueId result = make("reshape", {y}, {{"shape", Shape{batch_, heads_, rows_, size}}});
    if (!flat_) return result;
    result = make("transpose", {result}, {{"perm", Shape{0, 2, 1, 3}}});
    return make("reshape", {result}, {{"shape", Shape{batch_, rows_, heads_ * size}}});
  }

  NodeContext& node_;
  ir::DType type_ = ir::kF32;
  bool flat_ = false;
  bool in_band_ = false;  // the keys that a query sees by its place are known now
  std::optional<std::int64_t> left_, right_;  // how far a query sees, where that is limited
  ValueId query_ = kNoValue, key_ = kNoValue, value_ = kNoValue;
  std::int64_t batch_ = 0, heads_ = 0, groups_ = 0, rows_ = 0, keys_ = 0, size_ = 0, past_ = 0;
};

}  // namespace

Converted convert_attention(NodeContext& node) { return Attention(node).convert(); }

Converted convert_rotary_embedding(NodeContext& node) {
  ValueId x = node.input(0);
  const Shape shape = node.shape(x);
  const bool flat = shape.size() == 3;
  if (flat) {
    const std::int64_t heads = node.integer("num_heads", 0);
    if (heads < 1 || shape[2] % heads != 0) {
      return invalid(fmt::format("{} does not divide into num_heads = {}",
                                 ops::to_string(node.type(x)), heads));
    }
    ATTUNE_ASSIGN(x, node.reshape(x, {shape[0], shape[1], heads, shape[2] / heads}));
  } else if (shape.size() == 4) {
    ATTUNE_ASSIGN(x, node.add("transpose", {x}, {{"perm", Shape{0, 2, 1, 3}}}));
  } else {
    return invalid(fmt::format("{} must have 3 or 4 dimensions", ops::to_string(node.type(x))));
  }
  std::int64_t rotated = node.integer("rotary_embedding_dim", 0);
  if (rotated == 0) rotated = node.shape(x)[3];
  std::vector<ValueId> operands{x, node.input(1), node.input(2)};
  if (node.has(3)) operands.push_back(node.input(3));
  ATTUNE_ASSIGN(x, node.add("rotary_embedding", std::move(operands),
                            {{"pairs", rotated / 2},
                             {"interleaved", std::int64_t{node.flag("interleaved")}}}));
  if (flat) return one(node.reshape(x, shape));
  return one(node.add("transpose", {x}, {{"perm", Shape{0, 2, 1, 3}}}));
}

}  // namespace attune::onnx
