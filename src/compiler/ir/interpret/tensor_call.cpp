#include "compiler/ir/interpret/tensor_call.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune::ir {

Result<TensorCall> TensorCall::compile(const Opaque& call, const TensorIntrinsic& intrinsic,
                                       Evaluator& evaluator) {
  TensorCall compiled;
  compiled.name_ = call.name;
  compiled.cycles_ = intrinsic.cycles;
  compiled.lanes_ = intrinsic.warp ? intrinsic.warp->lanes : 0;
  ATTUNE_ASSIGN(compiled.meaning_, TensorMeaning::compile(intrinsic));
  std::size_t next = 0;
  const auto wrong = [&] {
    return invalid(
        fmt::format("intrinsic '{}' is called with other operands than it is declared "
                    "with",
                    call.name));
  };
  const auto number = [&](std::int64_t& to) {
    const auto* constant = next < call.args.size() ? as_int(call.args[next++]) : nullptr;
    if (constant) to = *constant;
    return constant != nullptr;
  };
  for (const Buffer& buffer : compiled.meaning_.operands()) {
    const auto* place = next < call.args.size() ? as<Load>(call.args[next++]) : nullptr;
    if (!place || place->buffer->type != buffer->type) return wrong();
    Operand operand{nullptr, std::vector<std::int64_t>(buffer->shape.size()), buffer->shape};
    ATTUNE_ASSIGN(operand.access, evaluator.compile_access(place->buffer, place->index));
    for (std::int64_t& stride : operand.strides) {
      if (!number(stride)) return wrong();
    }
    if (intrinsic.warp && !compiled.operands_.empty() && !number(operand.step)) return wrong();
    compiled.operands_.push_back(std::move(operand));
  }
  // What is rounded once more stays as it is.
  std::int64_t rounded = 0;
  if (!intrinsic.rounding.empty() && !number(rounded)) return wrong();
  if (intrinsic.warp) compiled.add_fragments(*intrinsic.warp);
  return compiled;
}

void TensorCall::add_fragments(const WarpForm& warp) {
  for (std::size_t i = 1; i < operands_.size(); ++i) {
    operands_[i].places = fragment_places(warp.fragments[i], warp.lanes);
    operands_[i].own_steps = own_steps(warp.fragments[i], warp.lanes);
  }
}

bool TensorCall::read(const Operand& operand, Frame& frame, std::int64_t position, Value& value) {
  const Access& access = *operand.access;
  const std::int64_t count = element_count(*access.buffer);
  if (position < 0 || position >= count) {
    access.fail(frame, position, Fault::OutOfBounds,
                fmt::format("load of '{}' at [{}] by an intrinsic, shape [{}], is out of bounds",
                            access.buffer->name, position, count));
    return false;
  }
  if (frame.watch) frame.watch->on_read(frame, access, position);
  const Memory& memory = *frame.memories[access.slot];
  const auto at = static_cast<std::size_t>(position);
  if (!memory.written[at]) {
    access.fail(
        frame, position, Fault::Uninitialised,
        fmt::format("load of '{}' at [{}] by an intrinsic reads an element that was never written",
                    access.buffer->name, position));
    return false;
  }
  value = memory.values[at];
  return true;
}

// Calls `each` with the positions of all elements, until something failed.
template <typename Each>
void TensorCall::visit(const Operand& operand, Frame& frame, const char* action, Each&& each) {
  const std::int64_t base = operand.access->locate(frame, 0, action);
  for_each_point(operand.shape, [&](const std::vector<std::int64_t>& point) {
    if (frame.failed()) return;
    std::int64_t position = base;
    for (std::size_t d = 0; d < point.size(); ++d) position += point[d] * operand.strides[d];
    each(position);
  });
}

bool TensorCall::read_all(const Operand& operand, Frame& frame, Tile& tile) const {
  visit(operand, frame, "load", [&](std::int64_t position) {
    tile.emplace_back();
    if (read(operand, frame, position, tile.back()) && &operand != &operands_[0]) {
      tile.back() = meaning_.rounded(tile.back());
    }
  });
  return !frame.failed();
}

void TensorCall::write_all(const Operand& operand, Frame& frame, const Tile& tile) const {
  Memory& memory = *frame.memories[operand.access->slot];
  std::size_t number = 0;
  visit(operand, frame, "store", [&](std::int64_t position) {
    const Value value = tile[number++];
    if (frame.watch) frame.watch->on_write(frame, *operand.access, position, value);
    memory.values[static_cast<std::size_t>(position)] = value;
    memory.written[static_cast<std::size_t>(position)] = 1;
  });
}

void TensorCall::run(Frame& frame) const {
  if (lanes_ > 0) {
    frame.fail(
        fmt::format("'{}' is run by the lanes of a warp, but there are no threads here", name_));
    return;
  }
  std::vector<Tile> tiles(operands_.size());
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (!read_all(operands_[i], frame, tiles[i])) return;
  }
  write_all(operands_[0], frame, meaning_.compute(tiles));
}

bool TensorCall::gather(const Operand& operand, const std::vector<Frame*>& lanes,
                        std::vector<Tile>& steps) const {
  const Access& access = *operand.access;
  std::int64_t elements = 1;
  for (std::int64_t extent : operand.shape) elements *= extent;
  const auto last = *std::max_element(operand.own_steps.begin(), operand.own_steps.end());
  steps.assign(static_cast<std::size_t>(last) + 1, Tile(static_cast<std::size_t>(elements)));
  const std::int64_t base = access.locate(*lanes[0], 0, "load");
  for (std::size_t lane = 0; lane < lanes.size() && !lanes[lane]->failed(); ++lane) {
    Frame& frame = *lanes[lane];
    if (access.locate(frame, 0, "load") != base) {
      access.fail(frame, base, Fault::Divergent,
                  fmt::format("'{}' takes {} and other elements in other lanes of a warp", name_,
                              access.place(frame, 0)));
      return false;
    }
    for (const FragmentPlace& place : operand.places[lane]) {
      std::int64_t position = base + place.step * operand.step, number = 0;
      for (std::size_t d = 0; d < place.index.size(); ++d) {
        position += place.index[d] * operand.strides[d];
        number = number * operand.shape[d] + place.index[d];
      }
      Value value{};
      if (!read(operand, frame, position, value)) return false;
      steps[static_cast<std::size_t>(place.step)][static_cast<std::size_t>(number)] =
          meaning_.rounded(value);
    }
  }
  return !lanes[0]->failed();
}

void TensorCall::run(const std::vector<Frame*>& lanes) const {
  std::vector<std::vector<Tile>> inputs(operands_.size());
  for (std::size_t i = 1; i < operands_.size(); ++i) {
    if (!gather(operands_[i], lanes, inputs[i])) return;
  }
  std::vector<Tile> results;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    std::vector<Tile> tiles(operands_.size());
    if (!read_all(operands_[0], *lanes[lane], tiles[0])) return;
    for (std::size_t i = 1; i < operands_.size(); ++i) {
      tiles[i] = inputs[i][static_cast<std::size_t>(operands_[i].own_steps[lane])];
    }
    results.push_back(meaning_.compute(tiles));
  }
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    write_all(operands_[0], *lanes[lane], results[lane]);
  }
}

}  // namespace attune::ir
