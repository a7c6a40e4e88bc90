#include "compiler/ir/interpret/matrix_call.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune::ir {
namespace {

constexpr std::int64_t kUnitBytes = 16;  // of addresses and distances of matrices

// How far the elements of a matrix lie from its first one, by step: parts that depend on one of
// step and dimensions each add up.
std::vector<std::vector<std::int64_t>> distances(const MatrixPlaces& places, std::int64_t steps,
                                                 const std::vector<std::int64_t>& shape,
                                                 std::int64_t lead, std::int64_t group) {
  const std::vector<std::int64_t> origin(shape.size(), 0);
  std::vector<std::vector<std::int64_t>> along(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    for (std::int64_t i = 0; i < shape[d]; ++i) {
      std::vector<std::int64_t> index = origin;
      index[d] = i;
      along[d].push_back(places.at(0, index, lead, group));
    }
  }
  std::vector<std::vector<std::int64_t>> all;
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::int64_t first = places.at(step, origin, lead, group);
    all.emplace_back();
    for_each_point(shape, [&](const std::vector<std::int64_t>& point) {
      std::int64_t sum = first;
      for (std::size_t d = 0; d < point.size(); ++d) {
        sum += along[d][static_cast<std::size_t>(point[d])];
      }
      all.back().push_back(sum);
    });
  }
  return all;
}

}  // namespace

Result<MatrixCall> MatrixCall::compile(const Opaque& call, const TensorIntrinsic& intrinsic,
                                       Evaluator& evaluator) {
  MatrixCall compiled;
  compiled.name_ = call.name;
  compiled.cycles_ = intrinsic.cycles;
  ATTUNE_ASSIGN(compiled.meaning_, TensorMeaning::compile(intrinsic));
  const WarpgroupForm& form = *intrinsic.warpgroup;
  const auto names = dimension_names(intrinsic.program());
  std::size_t next = 0;
  const auto wrong = [&] {
    return invalid(fmt::format(
        "intrinsic '{}' is called with other operands than it is declared with", call.name));
  };
  const auto number = [&](std::int64_t& to) {
    const auto* constant = next < call.args.size() ? as_int(call.args[next++]) : nullptr;
    if (constant) to = *constant;
    return constant != nullptr;
  };
  for (std::size_t i = 0; i < compiled.meaning_.operands().size(); ++i) {
    const Buffer& buffer = compiled.meaning_.operands()[i];
    const auto* place = next < call.args.size() ? as<Load>(call.args[next++]) : nullptr;
    std::int64_t one = 0, other = 0;  // strides of the result, or lead and group
    if (!place || place->buffer->type != buffer->type || !number(one) || !number(other)) {
      return wrong();
    }
    ATTUNE_ASSIGN(const Access* access, evaluator.compile_access(place->buffer, place->index));
    if (i == 0) {
      compiled.result_ = access;
      compiled.result_shape_ = buffer->shape;
      compiled.result_strides_ = {one, other};
      continue;
    }
    const std::int64_t bytes = buffer->type.element_bytes();
    if (place->buffer->scope != Scope::Shared || one * bytes % kUnitBytes != 0 ||
        other * bytes % kUnitBytes != 0) {
      return wrong();
    }
    Input input{access, own_steps(form.inputs[i - 1], form.lanes), {}};
    const auto steps = *std::max_element(input.own_steps.begin(), input.own_steps.end()) + 1;
    input.distance = distances({form.inputs[i - 1], names[i]}, steps, buffer->shape, one, other);
    compiled.inputs_.push_back(std::move(input));
  }
  return compiled;
}

bool MatrixCall::gather(const Input& input, const std::vector<Frame*>& lanes,
                        std::vector<Tile>& steps, std::vector<Read>& reads) const {
  const Access& access = *input.access;
  Frame& first = *lanes.front();
  const std::int64_t base = access.locate(first, 0, "load");
  for (Frame* lane : lanes) {
    if (first.failed() || access.locate(*lane, 0, "load") == base) continue;
    access.fail(*lane, base, Fault::Divergent,
                fmt::format("'{}' takes {} and other elements in other lanes of a warpgroup", name_,
                            access.place(*lane, 0)));
  }
  if (first.failed()) return false;
  if (base * access.buffer->type.element_bytes() % kUnitBytes != 0) {
    access.fail(first, base, Fault::Misaligned,
                fmt::format("'{}' takes a matrix at {}, which is not aligned to {} bytes", name_,
                            access.place(first, 0), kUnitBytes));
    return false;
  }
  const Memory& memory = *first.memories[access.slot];
  for (const auto& elements : input.distance) {
    steps.emplace_back();
    for (const std::int64_t distance : elements) {
      const std::int64_t position = base + distance, count = element_count(*access.buffer);
      if (position < 0 || position >= count) {
        access.fail(first, position, Fault::OutOfBounds,
                    fmt::format("load of '{}' at [{}] by '{}', shape [{}], is out of bounds",
                                access.buffer->name, position, name_, count));
        return false;
      }
      if (first.watch) {
        first.watch->on_read(first, access, position);
        lanes.back()->watch->on_read(*lanes.back(), access, position);
      }
      if (!memory.written[static_cast<std::size_t>(position)]) {
        access.fail(first, position, Fault::Uninitialised,
                    fmt::format("load of '{}' at [{}] by '{}' reads an element that was never "
                                "written",
                                access.buffer->name, position, name_));
        return false;
      }
      steps.back().push_back(meaning_.rounded(memory.values[static_cast<std::size_t>(position)]));
      reads.push_back({input.access, position});
    }
  }
  return true;
}

bool MatrixCall::locate_results(Frame& frame, std::vector<std::int64_t>& positions) const {
  const std::int64_t base = result_->locate(frame, 0, "load");
  if (base < 0) return false;
  const Memory& memory = *frame.memories[result_->slot];
  for_each_point(result_shape_, [&](const std::vector<std::int64_t>& point) {
    if (frame.failed()) return;
    const std::int64_t position =
        base + point[0] * result_strides_[0] + point[1] * result_strides_[1];
    positions.push_back(position);
    const bool inside = position >= 0 && position < element_count(*result_->buffer);
    if (inside && memory.written[static_cast<std::size_t>(position)]) return;
    result_->fail(
        frame, position, inside ? Fault::Uninitialised : Fault::OutOfBounds,
        fmt::format("'{}' adds to '{}' at [{}], which is {}", name_, result_->buffer->name,
                    position, inside ? "never written" : "out of bounds"));
  });
  return !frame.failed();
}

void MatrixCall::run(const std::vector<Frame*>& lanes, std::vector<Read>& reads) const {
  std::vector<std::vector<Tile>> inputs(inputs_.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (!gather(inputs_[i], lanes, inputs[i], reads)) return;
  }
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    std::vector<std::int64_t> positions;
    if (!locate_results(*lanes[lane], positions)) return;
    Memory& memory = *lanes[lane]->memories[result_->slot];
    std::vector<Tile> tiles(1);
    for (const std::int64_t at : positions) {
      tiles[0].push_back(memory.values[static_cast<std::size_t>(at)]);
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      tiles.push_back(inputs[i][static_cast<std::size_t>(inputs_[i].own_steps[lane])]);
    }
    const Tile results = meaning_.compute(tiles);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      memory.values[static_cast<std::size_t>(positions[i])] = results[i];
    }
  }
}

}  // namespace attune::ir
