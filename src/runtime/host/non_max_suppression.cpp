// NonMaxSuppression: per batch and class, boxes in falling order of score, each unless it overlaps
// one already taken by more than the threshold. Arithmetic is f32, as the standard has it.
#include <algorithm>
#include <cmath>

#include "runtime/host/elements.h"
#include "runtime/host/list.h"

namespace attune::runtime::host {
namespace {

struct Box {
  float low_x, low_y, high_x, high_y;
};

Box read_box(const HostTensor& boxes, std::int64_t number, bool centered) {
  double raw[4];
  load_reals(raw, boxes, number * 4, 1, 4);
  float v[4];
  for (int i = 0; i < 4; ++i) v[i] = static_cast<float>(raw[i]);
  if (centered) {  // x, y, width, height
    return {v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2, v[1] + v[3] / 2};
  }
  // y1, x1, y2, x2: any two opposite corners
  return {std::min(v[1], v[3]), std::min(v[0], v[2]), std::max(v[1], v[3]), std::max(v[0], v[2])};
}

bool overlaps_more_than(const Box& a, const Box& b, float threshold) {
  const float width = std::min(a.high_x, b.high_x) - std::max(a.low_x, b.low_x);
  const float height = std::min(a.high_y, b.high_y) - std::max(a.low_y, b.low_y);
  if (!(width > 0) || !(height > 0)) return false;
  const float area_a = (a.high_x - a.low_x) * (a.high_y - a.low_y);
  const float area_b = (b.high_x - b.low_x) * (b.high_y - b.low_y);
  const float common = width * height;
  const float together = area_a + area_b - common;
  if (!(area_a > 0) || !(area_b > 0) || !(together > 0)) return false;
  return common / together > threshold;
}

struct Options {
  std::int64_t most = 0;
  float overlap = 0.0f;
  bool has_least_score = false;
  float least_score = 0.0f;
  bool centered = false;
};

Result<Options> read_options(const Call& call) {
  Options options;
  options.centered = call.integer("center_point_box", 0) != 0;
  for (std::size_t i = 2; i < call.inputs.size(); ++i) {
    if (call.has_input(i) && call.inputs[i].shape.elements() != 1) {
      return call.bad("input " + std::to_string(i) + " is not one number");
    }
  }
  if (call.has_input(2)) options.most = integer_at(call.inputs[2], 0);
  if (call.has_input(3)) options.overlap = static_cast<float>(real_at(call.inputs[3], 0));
  options.has_least_score = call.has_input(4);
  if (call.has_input(4)) options.least_score = static_cast<float>(real_at(call.inputs[4], 0));
  return options;
}

// Appends the boxes of one batch and class that are taken.
void select(const HostTensor& boxes, std::span<const double> scores, std::int64_t first_box,
            const Options& options, std::vector<std::int64_t>& taken) {
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < std::ssize(scores); ++i) {
    const auto score = static_cast<float>(scores[static_cast<std::size_t>(i)]);
    if (std::isnan(score)) continue;
    if (!options.has_least_score || score > options.least_score) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
  });
  std::vector<Box> kept;
  for (const std::int64_t i : order) {
    if (std::ssize(kept) >= options.most) return;
    const Box box = read_box(boxes, first_box + i, options.centered);
    const bool covered = std::ranges::any_of(
        kept, [&](const Box& other) { return overlaps_more_than(box, other, options.overlap); });
    if (covered) continue;
    kept.push_back(box);
    taken.push_back(i);
  }
}

}  // namespace

Status non_max_suppression(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(2, 5));
  const HostTensor& boxes = call.inputs[0];
  const HostTensor& scores = call.inputs[1];
  const Shape& b = boxes.shape;
  const Shape& s = scores.shape;
  if (b.rank() != 3 || s.rank() != 3 || b[2] != 4 || b[0] != s[0] || b[1] != s[2]) {
    return call.bad("boxes and scores do not fit each other");
  }
  ATTUNE_ASSIGN(const Options options, read_options(call));
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> taken;
  std::vector<double> row(static_cast<std::size_t>(b[1]));
  for (std::int64_t batch = 0; batch < s[0]; ++batch) {
    for (std::int64_t category = 0; category < s[1]; ++category) {
      load_reals(row.data(), scores, (batch * s[1] + category) * s[2], 1, s[2]);
      taken.clear();
      select(boxes, row, batch * b[1], options, taken);
      for (const std::int64_t box : taken) rows.insert(rows.end(), {batch, category, box});
    }
  }
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, DType::I64, {std::ssize(rows) / 3, 3}));
  if (call.has_output(0)) {
    std::copy(rows.begin(), rows.end(), static_cast<std::int64_t*>(call.outputs[0].data));
  }
  return {};
}

}  // namespace attune::runtime::host
