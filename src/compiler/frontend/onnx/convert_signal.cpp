// Fourier transforms, window functions and mel filters. Transforms are products with a constant
// matrix, those of overlapping frames convolutions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/shape_converters.h"

namespace attune::onnx {
namespace {

Result<double> real_input(NodeContext& node, std::size_t i, std::string_view role) {
  ATTUNE_ASSIGN(const ConstantPtr constant, node.constant_input(i, role));
  if (constant->type.elements() != 1) {
    return invalid(fmt::format("input '{}' is not one number", role));
  }
  return constant->real(0);
}

constexpr std::int64_t kLongest = std::int64_t{1} << 24;

// The matrix [n, in, bins, 2] of a transform of n elements with `in` (1: real, 2: complex) parts.
ir::Array transform_matrix(ir::DType type, std::int64_t n, std::int64_t in, std::int64_t bins,
                           bool inverse) {
  ir::Array matrix(type, {n, in, bins, 2});
  const double scale = inverse ? 1.0 / static_cast<double>(n) : 1;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t k = 0; k < bins; ++k) {
      const double turn = static_cast<double>(j * k % n) / static_cast<double>(n);
      const double angle = (inverse ? 2 : -2) * std::numbers::pi * turn;
      const double c = scale * std::cos(angle), s = scale * std::sin(angle);
      const std::int64_t real = (j * in * bins + k) * 2;
      matrix.set_real(real, c);
      matrix.set_real(real + 1, s);
      if (in == 1) continue;
      matrix.set_real(real + 2 * bins, -s);
      matrix.set_real(real + 2 * bins + 1, c);
    }
  }
  return matrix;
}

// value with exactly n elements along an axis: cut off, or with zeros behind.
Result<ValueId> fitted(NodeContext& node, ValueId value, std::int64_t axis, std::int64_t n) {
  const std::int64_t size = node.shape(value)[static_cast<std::size_t>(axis)];
  if (size >= n) return slice_axis(node, value, axis, 0, n);
  const std::size_t rank = node.shape(value).size();
  Extents pads(2 * rank, 0);
  pads[rank + static_cast<std::size_t>(axis)] = n - size;
  return node.add("pad", {value}, {{"pads", pads}, {"mode", std::string("constant")}});
}

// From a one-sided spectrum of n / 2 + 1 bins the whole one: bin n - k is the conjugate of bin k.
Result<ValueId> mirrored(NodeContext& node, ValueId value, std::int64_t axis, std::int64_t n) {
  const std::int64_t bins = n / 2 + 1, rest = n - bins;
  ATTUNE_ASSIGN(ValueId half, fitted(node, value, axis, bins));
  if (rest == 0) return half;
  Extents shape = node.shape(half);
  const std::size_t rank = shape.size();
  Extents starts(rank, 0), steps(rank, 1);
  starts[static_cast<std::size_t>(axis)] = rest;
  steps[static_cast<std::size_t>(axis)] = -1;
  shape[static_cast<std::size_t>(axis)] = rest;
  ATTUNE_ASSIGN(
      const ValueId back,
      node.add("slice", {half}, {{"starts", starts}, {"steps", steps}, {"shape", shape}}));
  ir::Array signs(node.dtype(value), {2});
  signs.set_real(0, 1);
  signs.set_real(1, -1);
  ATTUNE_ASSIGN(const ValueId conjugate,
                node.add("mul", {back, node.constant(ops::make_constant(std::move(signs)))}));
  return node.add("concat", {half, conjugate}, {{"axis", axis}});
}

}  // namespace

Converted convert_window(NodeContext& node) {
  ATTUNE_ASSIGN(const std::int64_t size, node.integer_input(0, "size"));
  if (size < 0 || size > kLongest) return invalid(fmt::format("its size is {}", size));
  ATTUNE_ASSIGN(const ir::DType type,
                element_type(static_cast<std::int32_t>(node.integer("output_datatype", 1))));
  const double period = static_cast<double>(node.flag("periodic", true) ? size : size - 1);
  ATTUNE_RETURN_IF_ERROR(node.count_made(type, {size}));
  ir::Array window(type, {size});
  for (std::int64_t i = 0; i < size; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / period;
    double value = 0.5 - 0.5 * std::cos(angle);
    if (node.op() == "HammingWindow") value = 25.0 / 46 - 21.0 / 46 * std::cos(angle);
    if (node.op() == "BlackmanWindow") {
      value = 0.42 - 0.5 * std::cos(angle) + 0.08 * std::cos(2 * angle);
    }
    window.set_real(i, value);
  }
  return std::vector{node.constant(ops::make_constant(std::move(window)))};
}

Converted convert_mel_weight_matrix(NodeContext& node) {
  ATTUNE_ASSIGN(const std::int64_t mels, node.integer_input(0, "num_mel_bins"));
  ATTUNE_ASSIGN(const std::int64_t length, node.integer_input(1, "dft_length"));
  ATTUNE_ASSIGN(const std::int64_t rate, node.integer_input(2, "sample_rate"));
  ATTUNE_ASSIGN(const double lower, real_input(node, 3, "lower_edge_hertz"));
  ATTUNE_ASSIGN(const double upper, real_input(node, 4, "upper_edge_hertz"));
  ATTUNE_ASSIGN(const ir::DType type,
                element_type(static_cast<std::int32_t>(node.integer("output_datatype", 1))));
  if (mels < 1 || mels > kLongest || length < 1 || length > kLongest || rate < 1) {
    return invalid("its sizes are not positive, or too large");
  }
  const auto mel_of = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = mel_of(lower);
  const double step = (mel_of(upper) - low) / static_cast<double>(mels + 2);
  const std::int64_t bins = length / 2 + 1;
  std::vector<std::int64_t> edges;
  for (std::int64_t i = 0; i < mels + 2; ++i) {
    const double hertz = 700 * (std::pow(10.0, (static_cast<double>(i) * step + low) / 2595) - 1);
    const double edge =
        std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
    if (!(std::abs(edge) <= static_cast<double>(kLongest))) {
      return invalid(fmt::format("{} Hz are too much for {} samples a second", hertz, rate));
    }
    edges.push_back(static_cast<std::int64_t>(edge));
  }
  ATTUNE_RETURN_IF_ERROR(node.count_made(type, {bins, mels}));
  ir::Array matrix(type, {bins, mels});
  const auto set = [&](std::int64_t bin, std::int64_t mel, double value) {
    if (bin >= 0 && bin < bins) matrix.set_real(bin * mels + mel, value);
  };
  for (std::int64_t i = 0; i < mels; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t first = edges[at], center = edges[at + 1], last = edges[at + 2];
    if (center == first) set(center, i, 1);
    for (std::int64_t j = first; center != first && j <= center; ++j) {
      set(j, i, static_cast<double>(j - first) / static_cast<double>(center - first));
    }
    for (std::int64_t j = center; j < last; ++j) {
      set(j, i, static_cast<double>(last - j) / static_cast<double>(last - center));
    }
  }
  return std::vector{node.constant(ops::make_constant(std::move(matrix)))};
}

Converted convert_dft(NodeContext& node) {
  ValueId value = node.input(0);
  const int rank = node.rank(value);
  std::int64_t axis = node.opset() < 20 ? node.integer("axis", 1) : -2;
  if (node.opset() >= 20 && node.has(2)) {
    ATTUNE_ASSIGN(axis, node.integer_input(2, "axis"));
  }
  ATTUNE_ASSIGN(axis, node.axis(axis, rank));
  if (rank < 2 || axis == rank - 1 || node.shape(value).back() > 2 ||
      node.shape(value).back() < 1) {
    return invalid(
        fmt::format("no transform of {} along axis {}", ops::to_string(node.type(value)), axis));
  }
  const bool inverse = node.flag("inverse"), onesided = node.flag("onesided");
  const bool to_real = inverse && onesided;  // from half a spectrum to a real signal
  const std::int64_t size = node.shape(value)[static_cast<std::size_t>(axis)];
  std::int64_t n = to_real ? 2 * (size - 1) : size;
  if (node.has(1)) {
    ATTUNE_ASSIGN(n, node.integer_input(1, "dft_length"));
  }
  if (n < 1 || n > kLongest) return invalid(fmt::format("dft_length is {}", n));
  ATTUNE_ASSIGN(value, to_real ? mirrored(node, value, axis, n) : fitted(node, value, axis, n));
  const std::int64_t parts = node.shape(value).back();
  const std::int64_t bins = onesided && !inverse ? n / 2 + 1 : n;
  // […, n, parts] with the axis last but one, as rows of n * parts.
  Extents perm, back(static_cast<std::size_t>(rank));
  for (int i = 0; i < rank; ++i) {
    if (i != axis && i != rank - 1) perm.push_back(i);
  }
  perm.push_back(axis);
  perm.push_back(rank - 1);
  for (std::size_t i = 0; i < perm.size(); ++i) {
    back[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  }
  ATTUNE_ASSIGN(value, transpose(node, value, perm));
  Extents shape = node.shape(value);
  const ir::DType type = node.dtype(value);
  ATTUNE_ASSIGN(value, node.reshape(value, {node.type(value).elements() / (n * parts), n * parts}));
  // Sums in f64: elements that cancel out come close to 0, as from a fast transform.
  ATTUNE_ASSIGN(value, node.cast(value, ir::kF64));
  ATTUNE_RETURN_IF_ERROR(node.count_made(ir::kF64, {n, parts, bins, 2}));
  ir::Array matrix = transform_matrix(ir::kF64, n, parts, bins, inverse);
  matrix.shape = {n * parts, bins * 2};
  ATTUNE_ASSIGN(value,
                node.add("matmul", {value, node.constant(ops::make_constant(std::move(matrix)))}));
  ATTUNE_ASSIGN(value, node.cast(value, type));
  shape[shape.size() - 2] = bins;
  shape.back() = 2;
  ATTUNE_ASSIGN(value, node.reshape(value, shape));
  ATTUNE_ASSIGN(value, transpose(node, value, back));
  return to_real ? one(slice_axis(node, value, rank - 1, 0, 1)) : one(value);
}

Converted convert_stft(NodeContext& node) {
  const Extents signal = node.shape(node.input(0));
  ATTUNE_ASSIGN(const std::int64_t step, node.integer_input(1, "frame_step"));
  if (signal.size() < 2 || signal.size() > 3 || step < 1) {
    return invalid(fmt::format("no frames of {} in steps of {}",
                               ops::to_string(node.type(node.input(0))), step));
  }
  const std::int64_t parts = signal.size() == 3 ? signal[2] : 1;
  std::int64_t length = node.has(2) ? node.type(node.input(2)).elements() : 0;
  if (node.has(3)) {
    ATTUNE_ASSIGN(length, node.integer_input(3, "frame_length"));
  }
  if (length < 1 || length > signal[1] || length > kLongest || parts < 1 || parts > 2 ||
      (node.has(2) && node.shape(node.input(2)) != Extents{length})) {
    return invalid(fmt::format("frames of {} elements do not fit", length));
  }
  const std::int64_t bins = node.flag("onesided", true) ? length / 2 + 1 : length;
  const ir::DType type = node.dtype(node.input(0));
  ATTUNE_RETURN_IF_ERROR(node.count_made(type, {length, parts, bins, 2}));
  // The matrix [length, parts, bins * 2] as filters [bins * 2, parts, length], under the window.
  ATTUNE_ASSIGN(ValueId filter, node.reshape(node.constant(ops::make_constant(transform_matrix(
                                                 type, length, parts, bins, false))),
                                             {length, parts, bins * 2}));
  ATTUNE_ASSIGN(filter, transpose(node, filter, {2, 1, 0}));
  if (node.has(2)) {
    ATTUNE_ASSIGN(filter, node.add("mul", {filter, node.input(2)}));
  }
  ATTUNE_ASSIGN(ValueId data, node.reshape(node.input(0), {signal[0], signal[1], parts}));
  ATTUNE_ASSIGN(data, parts == 1 ? node.reshape(data, {signal[0], 1, signal[1]})
                                 : transpose(node, data, {0, 2, 1}));
  ATTUNE_ASSIGN(ValueId frames, node.add("conv", {data, filter, kNoValue},
                                         {{"kernel_shape", Extents{length}},
                                          {"strides", Extents{step}},
                                          {"pads", Extents{0, 0}},
                                          {"dilations", Extents{1}},
                                          {"group", std::int64_t{1}}}));
  const std::int64_t count = node.shape(frames)[2];
  ATTUNE_ASSIGN(frames, node.reshape(frames, {signal[0], bins, 2, count}));
  return one(transpose(node, frames, {0, 3, 1, 2}));
}

}  // namespace attune::onnx
