#include "tuner/templates/register_tile.h"

#include <algorithm>
#include <numeric>

namespace attune::templates {
namespace {

// How many rows of the left-hand matrix a tile can walk along without taking the smallest cache's
// lines from each other: rows whose distance is a multiple of a page all want the same few.
std::int64_t rows_side_by_side(const Panels& s) {
  constexpr std::int64_t kPage = 4096, kLinesEach = 6;
  return kLinesEach * (kPage / std::gcd(kPage, s.row_bytes));
}

}  // namespace

space::Choice streamed_tile(const space::Knob& tiles, const Panels& s,
                            const target::Target& target) {
  const std::int64_t in_flight =
      s.rows > 1 ? 8 : 4;  // accumulators that hide the arithmetic's latency
  const std::int64_t threads = std::max(1, target.threads), vectors = s.vectors;
  const std::int64_t most_rows = rows_side_by_side(s);
  const space::Choice* best = &tiles.choices[0];
  double best_score = -1;
  for (const space::Choice& choice : tiles.choices) {
    const std::int64_t r = choice.numbers[0], v = choice.numbers[1];
    const std::int64_t rest = s.rows % r;
    const std::int64_t steps =
        (s.rows / r) * std::max(r * v, in_flight) + (rest > 0 ? std::max(rest * v, in_flight) : 0);
    const std::int64_t panels = (vectors + v - 1) / v;
    const std::int64_t most = std::min(vectors, (panels + threads - 1) / threads * v);
    const double useful = static_cast<double>(s.rows * v) / static_cast<double>(steps);
    const double even =
        std::min(1.0, static_cast<double>(vectors) / static_cast<double>(threads * most));
    const double loads = static_cast<double>(r + v) / static_cast<double>(r * v);
    const double score = useful * even - std::max(0.0, loads - 0.6) +
                         0.001 * static_cast<double>(r * v) - 0.005 * static_cast<double>(v) -
                         (r > most_rows ? 0.1 : 0.0);
    if (score > best_score) best_score = score, best = &choice;
  }
  return *best;
}

void register_tile(TraceWriter& t, const std::string& stage, const std::string& k,
                   const space::Values& values, std::int64_t lanes) {
  const auto tile = values.numbers("tile");
  t.registers(stage);
  t.split(stage, "j", {lanes});
  const std::int64_t unrolled = values["unroll"];
  schedule::Names order{k};
  if (unrolled > 1) {
    t.split(stage, k, {unrolled});
    order = {k + ".0", k + ".1"};
    t.unroll(stage, k + ".1");
  }
  // The smaller operand is loaded first and held, the other streams, or the other way round.
  if ((tile[1] <= tile[0]) == (!values.has("held") || values["held"] == 0)) {
    order.insert(order.end(), {"i", "j.0", "j.1"});
  } else {
    order.insert(order.end(), {"j.0", "i", "j.1"});
  }
  t.reorder(stage, order);
  t.unroll(stage, "i");
  t.unroll(stage, "j.0");
  t.vectorize(stage, "j.1");
  if (values["prefetch"] == 1) t.annotate(stage, unrolled > 1 ? k + ".0" : k, "prefetch", "next");
}

}  // namespace attune::templates
