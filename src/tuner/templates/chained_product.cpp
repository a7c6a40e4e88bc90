#include "tuner/templates/chained_product.h"

#include <algorithm>

#include "tuner/templates/dataflow.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

const std::string kPrefix = "before.";
const std::string kProduct = kPrefix + "anchor", kResult = kPrefix + "output",
                  kFilter = kPrefix + "filter";

// Register tiles that cut the channels into whole groups.
space::Knob tiles_of(const ir::Program& program, const ir::Target& target) {
  const ir::Stage& a = *program.find_stage(kProduct);
  const std::int64_t blocks = extent_of(a, "oc");
  space::Knob tiles = register_tiles("product", extent_of(a, "ow"), blocks, target);
  std::erase_if(tiles.choices,
                [&](const space::Choice& tile) { return blocks % tile.numbers[1] != 0; });
  if (tiles.choices.empty()) {
    const std::int64_t most = target.vector_registers - 3;
    tiles.choices.push_back({{std::min(extent_of(a, "ow"), most), 1}});
  }
  return tiles;
}

// Shares of the rows of the window's output.
std::vector<std::int64_t> row_blocks(const ir::Program& program) {
  const std::int64_t rows = program.find_stage("output")->axes[2].extent;
  std::vector<std::int64_t> blocks;
  for (std::int64_t parts = 1; parts <= 16 && parts <= rows; ++parts) {
    if (rows % parts == 0) blocks.push_back(rows / parts);
  }
  return blocks;
}

// What lies between the two parts, for so many rows of the output.
std::int64_t bytes_between(const ir::Program& program, std::int64_t blocks, std::int64_t rows) {
  const ir::Stage& between = *program.find_stage(kResult);
  const std::int64_t all = program.find_stage("output")->axes[2].extent;
  const std::int64_t share =
      std::min(between.axes[2].extent, (between.axes[2].extent * rows + all - 1) / all + 2);
  return blocks * share * between.axes[3].extent * between.axes[4].extent * 4;
}

}  // namespace

bool has_product_before(const ir::Program& program) { return program.find_stage(kProduct); }

bool product_fits(const ir::Program& program) {
  const ir::Stage* anchor = program.find_stage(kProduct);
  const ir::Stage* result = program.find_stage(kResult);
  const ir::Stage* output = program.find_stage("output");
  return anchor && result && output && program.find_stage(kFilter) &&
         has_axes(*anchor, {"n", "oc", "oh", "ow", "ob"}, {"ic", "kh", "kw", "ib"}) &&
         same_extents(*anchor, *result) && output->axes[1].extent == result->axes[1].extent;
}

std::vector<std::string> stages_of_product(const ir::Program& program) {
  std::vector<std::string> names;
  for (const ir::Stage& stage : program.stages) {
    if (stage.name.starts_with(kPrefix)) names.push_back(stage.name);
  }
  return names;
}

std::vector<space::Knob> product_knobs(const ir::Program& program, const ir::Target& target) {
  return {tiles_of(program, target), space::choice_of("rows", row_blocks(program)),
          space::choice_of("unroll", {1, 2, 4})};
}

space::Settings product_defaults(const ir::Program& program, const ir::Target& target) {
  const ir::Stage& a = *program.find_stage(kProduct);
  const std::vector<std::int64_t> blocks = row_blocks(program);
  const std::int64_t rows = blocks.front();
  // Of the tiles that give the threads equal shares, the best one; as many rows as the cache holds.
  const space::Knob all = tiles_of(program, target);
  space::Knob even = all;
  const auto rows_for = [&](const space::Choice& tile) {
    for (const std::int64_t block : blocks) {
      if (bytes_between(program, tile.numbers[1], block) <= target.l2_bytes / 2) return block;
    }
    return blocks.back();
  };
  std::erase_if(even.choices, [&](const space::Choice& tile) {
    const std::int64_t pieces =
        extent_of(a, "n") * extent_of(a, "oc") / tile.numbers[1] * (rows / rows_for(tile));
    return imbalance(pieces, target) > 1.03;
  });
  const space::Choice tile =
      best_tile(even.choices.empty() ? all : even, extent_of(a, "ow"), extent_of(a, "oc"));
  return {{"product", tile}, {"rows", {{rows_for(tile)}}}, {"unroll", {{1}}}};
}

void prepare_product(TraceWriter& t, const ir::Program& program) {
  for (const ir::Stage& stage : program.stages) {
    const bool own = stage.name == kProduct || stage.name == kResult || stage.name == kFilter;
    if (!stage.name.starts_with(kPrefix) || own || depends_on_constants(program, stage)) continue;
    t.inline_stage(stage.name);
  }
}

void place_product(TraceWriter& t, const ir::Program& program, const space::Values& values,
                   const std::string& loop) {
  const ir::Stage& a = *program.find_stage(kProduct);
  const auto& axes = program.find_stage(kResult)->axes;
  const auto tile = values.numbers("product");
  const std::int64_t ib = extent_of(a, "ib"), steps = extent_of(a, "ic");
  const std::int64_t part = steps_of_part(a, steps, ib);
  const bool in_parts = part < steps;
  if (in_parts) {
    t.split(kProduct, "ic", {part});
    t.rfactor(kProduct, "ic.0");
  }
  const std::string oc = axes[1].name, oh = axes[2].name, ow = axes[3].name, ob = axes[4].name;
  t.compute_at(kResult, "output", loop);
  t.split(kResult, ow, {tile[0]});
  t.reorder(kResult, {axes[0].name, oh, ow + ".0", ow + ".1", oc, ob});
  t.compute_at(kProduct, kResult, ow + ".0");
  t.unroll(kResult, ow + ".1");
  t.unroll(kResult, oc);
  t.vectorize(kResult, ob);
  std::string summed = kProduct, ic = "ic";
  if (in_parts) {
    summed = "rf." + kProduct;
    ic = "ic_1";
    t.reorder(kProduct, {"n", "ic_0", "oh", "ow", "oc", "ob"});
    t.compute_at(summed, kProduct, "ic_0");
    for (const char* axis : {"oh", "ow", "oc"}) t.unroll(kProduct, axis);
    t.vectorize(kProduct, "ob");
  }
  const std::int64_t unrolled = std::min(values["unroll"], ib);
  t.split(summed, "ib", {unrolled});
  schedule::Names order{"n", ic, "kh", "kw", "ib.0", "ib.1", "oh"};
  // The smaller operand is loaded first and held, the other streams.
  if (tile[1] <= tile[0]) {
    order.insert(order.end(), {"ow", "oc", "ob"});
  } else {
    order.insert(order.end(), {"oc", "ow", "ob"});
  }
  t.reorder(summed, order);
  t.registers(summed);
  for (const char* axis : {"ib.1", "oh", "ow", "oc"}) t.unroll(summed, axis);
  t.vectorize(summed, "ob");
  const std::string group = std::to_string(tile[1] * extent_of(a, "ob"));
  const std::string block = std::to_string(ib);
  t.layout(kFilter, {"oc/" + group, "ic/" + block, "kh", "kw", "ic%" + block, "oc%" + group});
}

}  // namespace attune::templates
