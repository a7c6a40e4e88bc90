#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

#include <map>

#include "base/check.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/simplify.h"
#include "compiler/ir/text/parse.h"

namespace attune::ir {

std::span<const TensorIntrinsic> tensor_intrinsics() {
  static const std::vector<TensorIntrinsic> all = [] {
    std::vector<TensorIntrinsic> list = {
        mma_4x4x4_f32(),   mma_8x8x4_f32(),    dot_4_f32(),
        mma_16x8x16_f16(), mma_16x8x16_bf16(), mma_16x8x8_tf32(),
        mma_16x8x32_f16(), mma_16x8x32_bf16(), mma_16x8x16_tf32(),
    };
    for (const auto wgmma : {wgmma_f16, wgmma_bf16, wgmma_tf32}) {
      for (const int columns : {32, 64, 96, 128, 192, 256}) list.push_back(wgmma(columns));
    }
    return list;
  }();
  return all;
}

const TensorIntrinsic* find_tensor_intrinsic(std::string_view name) {
  for (const TensorIntrinsic& intrinsic : tensor_intrinsics()) {
    if (intrinsic.name == name) return &intrinsic;
  }
  return nullptr;
}

bool calls_warpgroups(const Stmt& s) {
  bool found = false;
  visit(
      s, [](const Stmt&) {},
      [&](const Expr& e) {
        const auto* call = as<Opaque>(e);
        const TensorIntrinsic* intrinsic = call ? find_tensor_intrinsic(call->name) : nullptr;
        found |= intrinsic && intrinsic->warpgroup;
      });
  return found;
}

namespace {

// What is declared as text, read once: searches ask for it at every point.
struct Read {
  std::map<std::string_view, Program> meanings;
  std::map<std::string_view, Expr> roundings;
};

const Read& read_declarations() {
  static const Read read = [] {
    Read all;
    for (const TensorIntrinsic& each : tensor_intrinsics()) {
      all.meanings.emplace(each.meaning, parse_program(each.meaning).value());
      if (each.rounding.empty()) continue;
      all.roundings.emplace(each.rounding, parse_expr(each.rounding).value());
    }
    return all;
  }();
  return read;
}

}  // namespace

Program TensorIntrinsic::program() const {
  const auto& known = read_declarations().meanings;
  const auto found = known.find(meaning);
  return found != known.end() ? found->second : parse_program(meaning).value();
}

Expr TensorIntrinsic::before_rounding(const Expr& value) const {
  if (rounding.empty()) return {};
  const auto& known = read_declarations().roundings;
  const auto found = known.find(rounding);
  const Expr form = found != known.end() ? found->second : parse_expr(rounding).value();
  // It keeps the type of what it rounds: loads of others are no elements.
  Expr element;
  visit(value, [&](const Expr& e) {
    if (!element && as<Load>(e) && e.type() == form.type()) element = e;
  });
  if (!element) return {};
  const Expr rounded = substitute(form, {{"x", element}});
  return equal(rounded, value) ? element : Expr();
}

namespace {

// An expression of `lane` and `e`, in numbers.
class LaneFunction {
 public:
  explicit LaneFunction(std::string_view text)
      : value_(text.empty() ? Expr(0) : parse_expr(text).value()) {}

  std::int64_t operator()(int lane, int e) const {
    const Expr value = simplify(substitute(value_, {{"lane", Expr(lane)}, {"e", Expr(e)}}));
    const auto* number = as_int(value);
    CHECK(number, "a fragment is declared by lane and e alone");
    return *number;
  }

 private:
  Expr value_;
};

}  // namespace

std::vector<std::vector<FragmentPlace>> fragment_places(const Fragment& fragment, int lanes) {
  const LaneFunction step(fragment.step);
  const std::vector<LaneFunction> index(fragment.index.begin(), fragment.index.end());
  std::vector<std::vector<FragmentPlace>> places(static_cast<std::size_t>(lanes));
  for (int lane = 0; lane < lanes; ++lane) {
    for (int e = 0; e < fragment.elements; ++e) {
      FragmentPlace place{step(lane, e), {}};
      for (const LaneFunction& one : index) place.index.push_back(one(lane, e));
      places[static_cast<std::size_t>(lane)].push_back(std::move(place));
    }
  }
  return places;
}

namespace {

std::vector<std::int64_t> steps_of(std::string_view own_step, int lanes) {
  const LaneFunction step(own_step);
  std::vector<std::int64_t> steps;
  for (int lane = 0; lane < lanes; ++lane) steps.push_back(step(lane, 0));
  return steps;
}

}  // namespace

std::vector<std::int64_t> own_steps(const Fragment& fragment, int lanes) {
  return steps_of(fragment.own_step, lanes);
}
std::vector<std::int64_t> own_steps(const SharedMatrix& matrix, int lanes) {
  return steps_of(matrix.own_step, lanes);
}

MatrixPlaces::MatrixPlaces(const SharedMatrix& matrix, std::vector<std::string> dimensions)
    : place_(parse_expr(matrix.place).value()), dimensions_(std::move(dimensions)) {}

std::int64_t MatrixPlaces::at(std::int64_t step, const std::vector<std::int64_t>& index,
                              std::int64_t lead, std::int64_t group) const {
  Bindings values{{"step", Expr(step)}, {"lead", Expr(lead)}, {"group", Expr(group)}};
  for (std::size_t d = 0; d < index.size(); ++d) values[dimensions_[d]] = Expr(index[d]);
  const Expr place = simplify(substitute(place_, values));
  const auto* number = as_int(place);
  CHECK(number, "a matrix is declared by its steps and dimensions alone");
  return *number;
}

std::vector<std::vector<std::string>> dimension_names(const Program& program) {
  const Stage& meaning = program.stages[0];
  std::vector<std::vector<std::string>> all(1 + program.inputs.size());
  for (const Axis& axis : meaning.axes) all[0].push_back(axis.name);
  visit(meaning.values[0], [&](const Expr& e) {
    const auto* load = as<Load>(e);
    if (!load) return;
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
      if (program.inputs[i].buffer != load->buffer || !all[i + 1].empty()) continue;
      for (const Expr& index : load->index) {
        const auto* variable = as<Var>(index);
        CHECK(variable, "operands of an intrinsic are read at its axes");
        all[i + 1].push_back(variable->name);
      }
    }
  });
  return all;
}

}  // namespace attune::ir
