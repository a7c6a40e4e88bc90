#include "runtime/host/elementwise.h"

#include "runtime/memory/tensor.h"

namespace attune::runtime::host {

Result<Broadcast> Broadcast::of(const Call& call) {
  Broadcast result;
  for (const HostTensor& input : call.inputs) {
    if (!input.present) return call.bad("an input is missing");
    const Shape before = result.shape_;
    if (!broadcast_into(result.shape_, input.shape)) {
      return call.bad("shapes " + shape_text(before.span()) + " and " +
                      shape_text(input.shape.span()) + " do not broadcast to one");
    }
  }
  std::vector<Shape> strides;
  for (const HostTensor& input : call.inputs) {
    strides.push_back(broadcast_strides(input.shape, result.shape_));
  }
  // Axes from the right that every input walks evenly make up a row.
  std::size_t d = result.shape_.rank();
  if (d > 0) result.row_ = result.shape_[--d];
  while (d > 0 && std::ranges::all_of(strides, [&](const Shape& s) {
           return s[d - 1] == s[result.shape_.rank() - 1] * result.row_;
         })) {
    result.row_ *= result.shape_[--d];
  }
  result.outer_ = Shape(result.shape_.span().first(d));
  for (std::size_t i = 0; i < strides.size(); ++i) {
    const std::size_t rank = strides[i].rank();
    result.operands_.push_back({.tensor = &call.inputs[i],
                                .strides = strides[i],
                                .step = rank > 0 ? strides[i][rank - 1] : 0,
                                .start = 0});
  }
  return result;
}

void Broadcast::load(double* to, std::size_t input, std::int64_t count) const {
  const Operand& operand = operands_[input];
  load_reals(to, *operand.tensor, operand.start, operand.step, count);
}

void Broadcast::load(std::int64_t* to, std::size_t input, std::int64_t count) const {
  const Operand& operand = operands_[input];
  load_integers(to, *operand.tensor, operand.start, operand.step, count);
}

namespace {

template <typename T>
Status run_blocks(const Call& call, Broadcast& broadcast, BlockFunction<T> function,
                  const double* parameters, bool is_unsigned) {
  const std::size_t inputs = call.inputs.size();
  std::vector<T> storage(inputs * static_cast<std::size_t>(kBlock));
  std::vector<T*> blocks;
  for (std::size_t i = 0; i < inputs; ++i) {
    blocks.push_back(storage.data() + i * static_cast<std::size_t>(kBlock));
  }
  broadcast.each_block([&](std::int64_t start, std::int64_t count) {
    for (std::size_t i = 0; i < inputs; ++i) broadcast.load(blocks[i], i, count);
    function(blocks.data(), inputs, count, parameters);
    if constexpr (std::is_same_v<T, double>) {
      store_reals(call.outputs[0], start, blocks[0], count);
    } else {
      store_integers(call.outputs[0], start, blocks[0], count, is_unsigned);
    }
  });
  return {};
}

}  // namespace

Status run_elementwise(const Call& call, const Elementwise& function) {
  ATTUNE_ASSIGN(Broadcast broadcast, Broadcast::of(call));
  if (!call.has_output(0)) return {};
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, call.outputs[0].type, broadcast.shape()));
  bool any_real = false;
  bool any_unsigned = false;
  for (const HostTensor& input : call.inputs) {
    any_real = any_real || domain_of(input.type) == Domain::Real;
    any_unsigned = any_unsigned || domain_of(input.type) == Domain::Unsigned;
  }
  if (any_real || function.whole == nullptr) {
    if (function.real == nullptr) return call.bad("it takes no floating point");
    return run_blocks(call, broadcast, function.real, function.parameters, false);
  }
  const bool wide = any_unsigned && function.unsigned64 != nullptr;
  return run_blocks(call, broadcast, wide ? function.unsigned64 : function.whole,
                    function.parameters, any_unsigned);
}

}  // namespace attune::runtime::host
