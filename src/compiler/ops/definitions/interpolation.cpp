#include "compiler/ops/definitions/interpolation.h"

namespace attune::ops {
namespace {

ir::Expr add_dimension(const std::vector<Taps>& dimensions, const Pixel& pixel,
                       std::vector<ir::Expr>& places, const ir::Expr& weight) {
  if (places.size() == dimensions.size()) {
    const ir::Expr value = pixel(places);
    return weight ? value * weight : value;
  }
  const Taps& taps = dimensions[places.size()];
  ir::Expr sum;
  for (std::size_t i = 0; i < taps.places.size(); ++i) {
    places.push_back(taps.places[i]);
    ir::Expr product = weight;
    if (taps.weights[i]) product = weight ? weight * taps.weights[i] : taps.weights[i];
    const ir::Expr part = add_dimension(dimensions, pixel, places, product);
    sum = sum ? sum + part : part;
    places.pop_back();
  }
  return sum;
}

}  // namespace

Taps nearest_tap(const ir::Expr& place) {
  return {{ir::cast(ir::kIndex, ir::math(ir::MathFn::Round, {place}))}, {ir::Expr()}};
}

Taps linear_taps(const ir::Expr& place) {
  const ir::Expr below = ir::math(ir::MathFn::Floor, {place});
  const ir::Expr first = ir::cast(ir::kIndex, below);
  const ir::Expr fraction = place - below;
  return {{first, first + 1}, {imm(place.type(), 1) - fraction, fraction}};
}

Taps cubic_taps(const ir::Expr& place) {
  const ir::DType type = place.type();
  const ir::Expr below = ir::math(ir::MathFn::Floor, {place});
  const ir::Expr first = ir::cast(ir::kIndex, below);
  const ir::Expr t = place - below;
  const double a = -0.75;
  // The kernel of Keys (1981), for distances below 1 and between 1 and 2.
  const auto near = [&](const ir::Expr& x) {
    return (imm(type, a + 2) * x - imm(type, a + 3)) * x * x + imm(type, 1);
  };
  const auto far = [&](const ir::Expr& x) {
    return ((imm(type, a) * x - imm(type, 5 * a)) * x + imm(type, 8 * a)) * x - imm(type, 4 * a);
  };
  return {{first - 1, first, first + 1, first + 2},
          {far(t + imm(type, 1)), near(t), near(imm(type, 1) - t), far(imm(type, 2) - t)}};
}

ir::Expr interpolate(const std::vector<Taps>& dimensions, const Pixel& pixel) {
  std::vector<ir::Expr> places;
  return add_dimension(dimensions, pixel, places, {});
}

Pixel pixels_or_zero(const Read& data, const Shape& spatial, std::vector<ir::Expr> leading,
                     ir::DType type) {
  return [=, leading = std::move(leading)](const std::vector<ir::Expr>& places) {
    ir::Expr inside;
    std::vector<ir::Expr> index = leading;
    for (std::size_t i = 0; i < places.size(); ++i) {
      require(inside, places[i] >= 0 && places[i] < ir::Expr(spatial[i]));
      index.push_back(places[i]);
    }
    return select_if(inside, ir::cast(type, data(index)), imm(type, 0));
  };
}

}  // namespace attune::ops
