#include "tuner/measure/builder/reference.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/rng.h"
#include "compiler/ir/interpret/interpret.h"
#include "compiler/ir/nodes/array.h"
#include "compiler/kernel/element_type.h"
#include "runtime/memory/fill.h"

namespace attune::builder {
namespace {

using Place = std::vector<std::int64_t>;

// What may be spent on the reference of one output, in evaluations of reduction bodies: well under
// a second of interpreting.
constexpr std::int64_t kEvaluations = 1'000'000;
constexpr std::int64_t kMostSamples = 512;
constexpr std::int64_t kFewestSamples = 48;
constexpr std::size_t kMostCorners = 16;

std::int64_t product(const std::vector<std::int64_t>& shape) {
  std::int64_t result = 1;
  for (const std::int64_t extent : shape) result *= extent;
  return result;
}

// Evaluations that one element of the costliest stage takes.
std::int64_t reduction_length(const ir::Program& program) {
  std::int64_t longest = 1;
  for (const ir::Stage& stage : program.stages) {
    std::int64_t length = 1;
    for (const ir::Axis& axis : stage.reduce_axes) length *= axis.extent;
    longest = std::max(longest, length);
  }
  return longest;
}

Place random_place(const std::vector<std::int64_t>& shape, Rng& rng) {
  Place place(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) place[d] = rng.between(0, shape[d] - 1);
  return place;
}

std::int64_t position_of(const Place& place, const std::vector<std::int64_t>& shape) {
  std::int64_t position = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) position = position * shape[d] + place[d];
  return position;
}

// Constants by one seed, other inputs by another.
Result<std::vector<ir::Array>> make_inputs(const ir::Program& program, std::uint64_t seed,
                                           std::uint64_t input_seed) {
  std::vector<ir::Array> inputs;
  for (const ir::Input& input : program.inputs) {
    ATTUNE_ASSIGN(const runtime::DType type, kernel::element_type(input.buffer->type));
    ir::Array array(input.buffer->type, input.buffer->shape);
    runtime::fill(array.data.data(), type, array.count(), input.constant ? seed : input_seed,
                  static_cast<int>(inputs.size()));
    inputs.push_back(std::move(array));
  }
  return inputs;
}

// Appends what one output is at these places.
Status expect(const ir::Program& program, const std::vector<ir::Array>& inputs, std::size_t output,
              const std::vector<Place>& places, std::vector<measure::ExpectedElement>& elements,
              double& magnitude) {
  const std::vector<std::int64_t>& shape = program.outputs[output]->shape;
  ATTUNE_ASSIGN(const std::vector<double> values,
                ir::interpret_at(program, inputs, output, places));
  for (std::size_t i = 0; i < places.size(); ++i) {
    elements.push_back({.output = static_cast<int>(output),
                        .index = position_of(places[i], shape),
                        .expected = values[i]});
    if (std::isfinite(values[i])) magnitude = std::max(magnitude, std::abs(values[i]));
  }
  return {};
}

}  // namespace

std::vector<Place> sample_places(const std::vector<std::int64_t>& shape, std::int64_t wanted,
                                 std::uint64_t seed) {
  std::vector<Place> places;
  const std::int64_t count = product(shape);
  if (count == 0) return places;
  if (count <= wanted) {
    for (std::int64_t i = 0; i < count; ++i) {
      Place place(shape.size());
      std::int64_t rest = i;
      for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) place[d] = rest % shape[d];
      places.push_back(std::move(place));
    }
    return places;
  }
  Rng rng(seed);
  std::set<Place> chosen;
  for (std::size_t corner = 0; corner < kMostCorners; ++corner) {
    Place place(shape.size());
    for (std::size_t d = 0; d < shape.size(); ++d) {
      // With more dimensions than bits the outermost stay at their start.
      const std::size_t bit = shape.size() - 1 - d;
      place[d] = bit < 4 && ((corner >> bit) & 1) != 0 ? shape[d] - 1 : 0;
    }
    chosen.insert(std::move(place));
  }
  const auto sides = static_cast<std::int64_t>(2 * shape.size());
  const std::int64_t per_side = std::max<std::int64_t>(1, wanted / 2 / sides);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    for (std::int64_t i = 0; i < 2 * per_side; ++i) {
      Place place = random_place(shape, rng);
      place[d] = i % 2 == 0 ? 0 : shape[d] - 1;
      chosen.insert(std::move(place));
    }
  }
  for (std::int64_t i = 0; i < wanted / 2; ++i) chosen.insert(random_place(shape, rng));
  places.assign(chosen.begin(), chosen.end());
  return places;
}

Result<measure::Expectation> reference_of(const ir::Program& program, std::uint64_t seed) {
  constexpr std::uint64_t kFresh = 0x66726573680000;  // far from the seeds that somebody chooses
  constexpr std::size_t kOneInSo = 4;                 // places are looked at again
  const std::int64_t wanted =
      std::clamp(kEvaluations / reduction_length(program), kFewestSamples, kMostSamples);
  measure::Expectation expectation{.seed = seed, .elements = {}, .fresh_seed = seed + kFresh};
  ATTUNE_ASSIGN(const std::vector<ir::Array> inputs, make_inputs(program, seed, seed));
  ATTUNE_ASSIGN(const std::vector<ir::Array> fresh,
                make_inputs(program, seed, expectation.fresh_seed));
  for (std::size_t output = 0; output < program.outputs.size(); ++output) {
    const std::vector<std::int64_t>& shape = program.outputs[output]->shape;
    const std::vector<Place> places = sample_places(shape, wanted, seed + output);
    std::vector<Place> few;
    for (std::size_t i = 0; i < places.size(); i += kOneInSo) few.push_back(places[i]);
    ATTUNE_RETURN_IF_ERROR(
        expect(program, inputs, output, places, expectation.elements, expectation.magnitude));
    ATTUNE_RETURN_IF_ERROR(
        expect(program, fresh, output, few, expectation.fresh, expectation.magnitude));
  }
  return expectation;
}

}  // namespace attune::builder
