#include "tuner/templates/launches/tensor_operands.h"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/templates/dataflow.h"

namespace attune::templates {
namespace {

constexpr std::int64_t kVectorBytes = 16;
constexpr std::int64_t kMostUnrolled = 16;  // copies of a thread that are written out

}  // namespace

bool TensorOperand::is_constant(const schedule::StageState& stage) const {
  const schedule::State& state = writer_.state();
  return std::all_of(
      stage.accesses.begin(), stage.accesses.end(), [&](const schedule::Access& access) {
        const int producer = state.producer_of(access.buffer);
        if (producer >= 0) return is_constant(*state.stages[static_cast<std::size_t>(producer)]);
        return std::any_of(state.inputs.begin(), state.inputs.end(), [&](const ir::Input& each) {
          return each.buffer == access.buffer && each.constant;
        });
      });
}

bool TensorOperand::make_own(const std::string& reader) {
  const schedule::State& state = writer_.state();
  const int producer = state.producer_of(operand_.buffer);
  const bool own = producer >= 0 && !state.is_output(producer) &&
                   state.consumers_of(producer).size() == 1 &&
                   writer_.stage(tensor_).stage.reduction == ir::Reduction::None;
  if (own) {
    ahead_ = is_constant(writer_.stage(tensor_));
    by_program_ = !ahead_;
    copy_ = ahead_ ? "cache." + tensor_ : tensor_;
    return true;
  }
  copy_ = "cache." + tensor_;
  return perform(schedule::CacheRead{tensor_, reader});
}

// The axis of the tensor's copies that is a dimension of it.
std::string TensorOperand::axis(int dimension) const {
  const std::string& stage = writer_.has(copy_) ? copy_ : tensor_;
  return writer_.stage(stage).stage.axes[static_cast<std::size_t>(dimension)].name;
}

// Terms of a layout: what is neither row nor term, panels, rows, and the terms within a panel.
schedule::Names TensorOperand::panels(const std::string& rows_first) const {
  const auto count = static_cast<int>(operand_.buffer->shape.size());
  const std::string row = axis(operand_.tile), step = axis(operand_.steps);
  schedule::Names terms;
  if (!rows_first.empty()) terms.push_back(rows_first);
  for (int d = 0; d < count; ++d) {
    if (d != operand_.tile && d != operand_.steps && d != operand_.lane) terms.push_back(axis(d));
  }
  terms.push_back(fmt::format("{}/{}", step, shape_.panel));
  if (!rows_first.empty()) {
    terms.push_back(fmt::format("{}%{}", row, rows_));
  } else if (of_thread_ > 1) {
    // The same row of neighbouring threads side by side.
    terms.push_back(fmt::format("{}%{}", row, of_thread_));
    terms.push_back(fmt::format("{}/{}", row, of_thread_));
  } else {
    terms.push_back(row);
  }
  terms.push_back(fmt::format("{}%{}", step, shape_.panel));
  if (operand_.lane >= 0) terms.push_back(axis(operand_.lane));
  return terms;
}

// A slab of a block in one piece.
bool TensorOperand::pack() {
  const std::string first = fmt::format("{}/{}", axis(operand_.tile), rows_);
  return perform(schedule::Layout{tensor_, panels(first)});
}

bool TensorOperand::fetch(const std::string& reader, const std::string& loop,
                          schedule::Names& done) {
  if (ahead_ && (!pack() || !perform(schedule::CacheRead{tensor_, reader}))) return false;
  if (by_program_) done.push_back(copy_);
  if (!perform(schedule::ComputeAt{copy_, reader, loop}) ||
      !perform(schedule::SetScope{copy_, "shared"}) ||
      !perform(schedule::Layout{copy_, panels("")})) {
    return false;
  }
  if (tiling_.stages > 1 && !perform(schedule::Pipeline{copy_, tiling_.stages})) return false;
  if (ahead_ && tiling_.bulk && !perform(schedule::Annotate{copy_, "*", "bulk", "1"})) return false;
  return share_copies();
}

// Neighbouring threads copy neighbouring terms of a row, as many of them at once as lie side by
// side where they come from.
bool TensorOperand::share_copies() {
  const std::string row = axis(operand_.tile), step = axis(operand_.steps);
  const std::int64_t lanes = operand_.lane >= 0 ? facts_.k_lanes : 1;
  const std::int64_t most = kVectorBytes / shape_.element_bytes;
  schedule::Names others = writer_.loops(copy_, false);
  std::erase(others, row);
  std::erase(others, step);
  if (operand_.lane >= 0) std::erase(others, axis(operand_.lane));
  if (!perform(schedule::Split{copy_, step, {shape_.panel}})) return false;
  schedule::Names order(others);
  const ir::Stage& stage = writer_.stage(copy_).stage;
  const std::string along = operand_.lane >= 0 ? axis(operand_.lane) : step;
  // Weights that are packed ahead have the terms of a row side by side, however they were read.
  const bool dense = ahead_ || strides_of(stage, along).scattered == 0;
  // What comes from rows of the tensor is read along these.
  const bool turned = !dense && operand_.lane < 0 && strides_of(stage, row).scattered == 0;
  if (turned) {
    order.insert(order.end(), {step + ".0", step + ".1", row});
    return perform(schedule::Reorder{copy_, order}) && bind_copies(order);
  }
  order.insert(order.end(), {step + ".0", row, step + ".1"});
  std::string vector;
  if (operand_.lane >= 0 && dense) {
    vector = axis(operand_.lane);
    order.push_back(vector);
    if (!perform(schedule::Reorder{copy_, order})) return false;
    order.pop_back();
    if (ahead_ && lanes < most && shape_.panel % (most / lanes) == 0) {
      // Whole vectors of several steps, which lie one behind the other.
      order.pop_back();
      const std::string both = writer_.fused(copy_, {step + ".1", vector});
      if (!perform(schedule::Split{copy_, both, {most}})) return false;
      order.push_back(both + ".0");
      vector = both + ".1";
    }
  } else {
    if (operand_.lane >= 0) order.push_back(axis(operand_.lane));
    if (!perform(schedule::Reorder{copy_, order})) return false;
    if (operand_.lane < 0 && dense && shape_.panel % most == 0) {
      if (!perform(schedule::Split{copy_, step + ".1", {most}})) return false;
      order.back() = step + ".1.0";
      vector = step + ".1.1";
    }
  }
  if (!vector.empty() && !perform(schedule::Vectorize{copy_, vector})) return false;
  return bind_copies(order);
}

bool TensorOperand::bind_copies(const schedule::Names& loops) {
  const std::string all = writer_.fused(copy_, loops);
  schedule::Numbers threads{tiling_.warps(), 32};
  schedule::Names bound{"thread.y", "thread.x"};
  if (tiling_.groups > 1) {
    threads.insert(threads.begin(), tiling_.groups);
    bound.insert(bound.begin(), "thread.z");
  }
  if (!perform(schedule::Split{copy_, all, threads})) return false;
  for (std::size_t i = 0; i < bound.size(); ++i) {
    if (!perform(schedule::Bind{copy_, fmt::format("{}.{}", all, i + 1), bound[i]})) return false;
  }
  const std::int64_t elements =
      rows_ * shape_.panel * tiling_.panels * tiling_.groups * facts_.k_lanes;
  const bool few = elements <= kMostUnrolled * tiling_.threads() * (kVectorBytes / 4);
  return !few || perform(schedule::Unroll{copy_, all + ".0"});
}

}  // namespace attune::templates
