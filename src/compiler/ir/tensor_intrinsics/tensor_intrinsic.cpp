#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

#include "base/check.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/simplify.h"
#include "compiler/ir/text/parse.h"

namespace attune::ir {

std::span<const TensorIntrinsic> tensor_intrinsics() {
  static const std::vector<TensorIntrinsic> all = {
      mma_4x4x4_f32(),   mma_8x8x4_f32(),    dot_4_f32(),
      mma_16x8x16_f16(), mma_16x8x16_bf16(), mma_16x8x8_tf32(),
      mma_16x8x32_f16(), mma_16x8x32_bf16(), mma_16x8x16_tf32(),
  };
  return all;
}

const TensorIntrinsic* find_tensor_intrinsic(std::string_view name) {
  for (const TensorIntrinsic& intrinsic : tensor_intrinsics()) {
    if (intrinsic.name == name) return &intrinsic;
  }
  return nullptr;
}

Program TensorIntrinsic::program() const { return parse_program(meaning).value(); }

Expr TensorIntrinsic::before_rounding(const Expr& value) const {
  if (rounding.empty()) return {};
  Expr element;
  visit(value, [&](const Expr& e) {
    if (!element && as<Load>(e)) element = e;
  });
  if (!element) return {};
  const Expr rounded = substitute(parse_expr(rounding).value(), {{"x", element}});
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

std::vector<std::int64_t> own_steps(const Fragment& fragment, int lanes) {
  const LaneFunction step(fragment.own_step);
  std::vector<std::int64_t> steps;
  for (int lane = 0; lane < lanes; ++lane) steps.push_back(step(lane, 0));
  return steps;
}

}  // namespace attune::ir
