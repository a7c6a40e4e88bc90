#include "compiler/ops/evaluate_testing.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "compiler/ir/interpret/interpret.h"
#include "compiler/ops/forms/blocked_layout.h"

namespace attune::ops {

Values random_values(std::size_t count, Rng& rng) {
  Values values(count);
  for (double& v : values) v = static_cast<double>(rng.between(-32, 32)) / 16;
  return values;
}

Values random_integers(std::size_t count, std::int64_t low, std::int64_t high, Rng& rng) {
  Values values(count);
  for (double& v : values) v = static_cast<double>(rng.between(low, high));
  return values;
}

std::size_t count_of(const std::vector<std::int64_t>& shape) {
  std::size_t count = 1;
  for (std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  return count;
}

Values evaluate(const ir::Program& program, const Tensors& inputs) {
  const Status verified = ir::verify(program);
  CHECK(verified.ok(), verified.ok() ? "" : verified.error().message);
  std::vector<ir::Array> arrays;
  for (const ir::Input& input : program.inputs) {
    const auto found = inputs.find(input.buffer->name);
    ir::Array array(input.buffer->type, input.buffer->shape);
    CHECK(found != inputs.end() && found->second.size() == static_cast<std::size_t>(array.count()),
          "values for input " + input.buffer->name);
    for (std::int64_t i = 0; i < array.count(); ++i) {
      const double v = found->second[static_cast<std::size_t>(i)];
      array.type.is_float() ? array.set_real(i, v) : array.set_int(i, static_cast<std::int64_t>(v));
    }
    arrays.push_back(std::move(array));
  }
  const Result<std::vector<ir::Array>> results = ir::interpret(program, arrays);
  const ir::Array& first = results->front();
  Values values;
  for (std::int64_t i = 0; i < first.count(); ++i) values.push_back(first.real(i));
  return values;
}

Values pack(const std::vector<std::int64_t>& blocked, std::int64_t channels, const Values& plain) {
  Values packed(count_of(blocked));
  pack_channels(blocked, channels, sizeof(double), std::as_bytes(std::span(plain)),
                std::as_writable_bytes(std::span(packed)));
  return packed;
}

Values unpack(const std::vector<std::int64_t>& blocked, std::int64_t channels,
              const Values& packed) {
  Values plain(count_of(plain_shape(blocked, channels)));
  unpack_channels(blocked, channels, sizeof(double), std::as_bytes(std::span(packed)),
                  std::as_writable_bytes(std::span(plain)));
  return plain;
}

double largest(const Values& values) {
  double result = 0;
  for (double v : values) result = std::max(result, std::abs(v));
  return result;
}

double largest_difference(const Values& a, const Values& b) {
  CHECK(a.size() == b.size(), "tensors of one size");
  double result = 0;
  for (std::size_t i = 0; i < a.size(); ++i) result = std::max(result, std::abs(a[i] - b[i]));
  return result;
}

}  // namespace attune::ops
