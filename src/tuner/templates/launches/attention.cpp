// Attention as one launch (graph/tasks/attention.h; Dao et al., "FlashAttention", 2022). A block
// has some queries of a matrix: their scores, exponentials and the sums of these stay in shared
// memory, whole rows at a time, and the matrix of all scores never exists. Lanes of a row of
// threads share a query's keys, reduce its row together and then share the columns of its result;
// where there are more lanes than columns, groups of them take a range of keys each and add up what
// they found. Keys are fetched together, a few terms of them at a time.
#include <algorithm>
#include <optional>
#include <set>

#include "tuner/templates/attention_facts.h"
#include "tuner/templates/inlining.h"
#include "tuner/templates/launches/attention_schedule.h"
#include "tuner/templates/launches/launches.h"
#include "tuner/templates/launches/product_facts.h"
#include "tuner/templates/launches/whole_program.h"

namespace attune::templates {
namespace {

constexpr double kWastedWork = 400;
constexpr std::int64_t kElement = 4;

bool fits(const ir::Program& program) {
  return is_attention(program) && program.find_stage(kParts) == nullptr;
}

AttentionTiles tiles_of(const space::Values& values) {
  return {.rows = values.numbers("queries")[0],
          .each = values.numbers("queries")[1],
          .lanes = values["lanes"],
          .keys = values["keys"],
          .terms = values["terms"],
          .steps = values["steps"]};
}

std::vector<space::Knob> knobs(const ir::Program& program, const target::Target& target) {
  const AttentionShape s = attention_shape(program);
  space::Knob queries{"queries", space::KnobKind::Split, {}};
  for (const std::int64_t rows : {1, 2, 4, 8, 16, 32}) {
    for (const std::int64_t each : {1, 2, 4}) {
      const bool fits_rows = rows * each == 1 || rows * each < 2 * s.queries;
      if (fits_rows) queries.choices.push_back({{rows, each}});
    }
  }
  std::vector<std::int64_t> lanes, terms;
  for (const std::int64_t count : {1, 2, 4, 8, 16, 32, 64, 128}) {
    if (count <= target.launch.threads_per_block) lanes.push_back(count);
  }
  for (const std::int64_t count : {8, 16, 32, 64}) {
    if (count < 2 * s.terms) terms.push_back(count);
  }
  terms.push_back(0);
  return {std::move(queries), space::choice_of("lanes", lanes),
          space::split_list("keys", s.keys, {1, 2, 4}), space::choice_of("terms", terms),
          space::split_list("steps", s.keys, {1, 2, 4, 8, 16})};
}

std::int64_t shared_bytes(const AttentionShape& s, const AttentionTiles& t) {
  const std::int64_t groups = key_groups(s, t);
  const std::int64_t sums =
      2 * std::min(t.lanes, kReducingLanes) + 2 + (groups > 1 ? groups * s.columns : 0);
  const std::int64_t rows = t.queries() * (2 * s.keys + sums);
  return (rows + t.lanes * t.keys * (t.terms + kAttentionVector)) * kElement;
}

std::optional<std::string> reject(const ir::Program& program, const target::Target& target,
                                  const space::Values& values) {
  const AttentionTiles t = tiles_of(values);
  if (t.rows * t.lanes > target.launch.threads_per_block) return "too many threads in a block";
  const AttentionShape s = attention_shape(program);
  if (shared_bytes(s, t) > target.launch.shared_bytes) return "rows do not fit into shared memory";
  if (t.lanes > 1 && t.lanes * t.keys >= 2 * s.keys) return "lanes without keys";
  return std::nullopt;
}

// Lanes for all keys of a row, in a block of some warps; as many queries as leave every
// multiprocessor a block or two.
space::Settings default_values(const ir::Program& program, const target::Target& target) {
  constexpr std::int64_t kThreads = 256, kMostLanes = 128;
  const AttentionShape s = attention_shape(program);
  AttentionTiles t{.rows = 1, .each = 4, .lanes = 1};
  while (t.lanes < kMostLanes && 2 * t.lanes * t.keys < 2 * s.keys) t.lanes *= 2;
  t.rows = std::max<std::int64_t>(1, std::min(kThreads, target.launch.threads_per_block) / t.lanes);
  const auto fits_in = [&] { return shared_bytes(s, t) <= target.launch.shared_bytes / 2; };
  const auto blocks = [&] { return s.batch * ((s.queries + t.queries() - 1) / t.queries()); };
  const std::int64_t wanted = target.launch.multiprocessors;
  while (t.each > 1 && (blocks() < 2 * wanted || !fits_in())) t.each /= 2;
  while (t.rows > 1 && (blocks() < wanted || !fits_in())) t.rows /= 2;
  return {{"queries", {{t.rows, t.each}}},
          {"lanes", {{t.lanes}}},
          {"keys", {{t.keys}}},
          {"terms", {{t.terms}}},
          {"steps", {{t.steps}}}};
}

Inlined inlined_of(const space::Subject& subject) {
  std::set<std::string> kept{kScores, kExp};
  if (const auto product = product_of(subject.program, *subject.program.find_stage(kFirst))) {
    kept.insert({product->left.buffer->name, product->right.buffer->name});
  }
  return inline_producers(subject, kWastedWork, kept);
}

space::Written trace(const space::Subject& subject, const target::Target& target,
                     const space::Values& values) {
  const Inlined inlined = inlined_of(subject);
  LaunchWriter writer(subject, inlined.steps, target.launch);
  std::set<std::string> done;
  const bool written =
      writer.together([&] { return write_attention(writer, inlined.program, tiles_of(values)); });
  if (written) {
    for (const ir::Stage& stage : inlined.program.stages) {
      const int index = writer.state().find(stage.name);
      const bool root =
          index >= 0 && writer.state().stages[static_cast<std::size_t>(index)]->at_root();
      if (!root || stage.name == "output") done.insert(stage.name);
    }
  }
  write_others(writer, inlined.program, done,
               {.tiling = {.threads_y = 4, .tile_y = 2, .threads_x = 16, .tile_x = 2, .chunk = 8},
                .threads = 128,
                .per_thread = 1});
  return writer.take();
}

}  // namespace

space::Template launch_attention() {
  return {"attention", fits, knobs, trace, default_values, reject};
}

}  // namespace attune::templates
