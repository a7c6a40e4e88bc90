#include "tuner/templates/chained_product.h"

#include <algorithm>

#include "tuner/templates/dataflow.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

const std::string kPrefix = "before.";
const std::string kProduct = kPrefix + "anchor", kResult = kPrefix + "output",
                  kFilter = kPrefix + "filter";

// Multiply-adds written out in one loop body: more only costs compile time.
constexpr std::int64_t kLongestBody = 320;

// Register tiles that cut the channels into whole groups.
space::Knob tiles_of(const ir::Program& program, const target::Target& target) {
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

// Leaves the choices that suit, unless none does.
template <typename Suits>
void keep_if_any(space::Knob& knob, const Suits& suits) {
  if (std::none_of(knob.choices.begin(), knob.choices.end(), suits)) return;
  std::erase_if(knob.choices, [&](const space::Choice& choice) { return !suits(choice); });
}

}  // namespace

bool has_product_before(const ir::Program& program) { return program.find_stage(kProduct); }

bool product_fits(const ir::Program& program) {
  const ir::Stage* anchor = program.find_stage(kProduct);
  const ir::Stage* result = program.find_stage(kResult);
  const ir::Stage* output = program.find_stage("output");
  return anchor && result && output && program.find_stage(kFilter) &&
         (has_axes(*anchor, {"n", "oc", "oh", "ow", "ob"}, {"ic", "kh", "kw", "ib"}) ||
          has_axes(*anchor, {"n", "oc", "oh", "ow", "ob"}, {"ic", "kh", "kw"})) &&
         same_extents(*anchor, *result) && output->axes[1].extent == result->axes[1].extent;
}

std::vector<std::string> stages_of_product(const ir::Program& program) {
  std::vector<std::string> names;
  for (const ir::Stage& stage : program.stages) {
    if (stage.name.starts_with(kPrefix)) names.push_back(stage.name);
  }
  return names;
}

std::vector<space::Knob> product_knobs(const ir::Program& program, const target::Target& target) {
  return {tiles_of(program, target), space::choice_of("rows", row_blocks(program)),
          space::choice_of("unroll", extent_of(*program.find_stage(kProduct), "ib") > 0
                                         ? std::vector<std::int64_t>{1, 2, 4}
                                         : std::vector<std::int64_t>{1})};
}

space::Settings product_defaults(const ir::Program& program, const target::Target& target) {
  const ir::Stage& a = *program.find_stage(kProduct);
  const std::vector<std::int64_t> blocks = row_blocks(program);
  const std::int64_t rows = blocks.front();
  // All rows in one go, where the cache holds most of them: what blocks share is computed twice.
  const auto rows_for = [&](const space::Choice& tile) {
    for (const std::int64_t block : blocks) {
      if (bytes_between(program, tile.numbers[1], block) <= target.l2_bytes * 5 / 4) return block;
    }
    return blocks.back();
  };
  // Of the tiles that give the threads equal shares and leave room in the cache, the best one.
  space::Knob tiles = tiles_of(program, target);
  keep_if_any(tiles, [&](const space::Choice& tile) {
    const std::int64_t pieces =
        extent_of(a, "n") * extent_of(a, "oc") / tile.numbers[1] * (rows / rows_for(tile));
    return imbalance(pieces, target) <= 1.03;
  });
  keep_if_any(tiles, [&](const space::Choice& tile) {
    return tile.numbers[1] > 1 &&
           bytes_between(program, tile.numbers[1], rows) <= target.l2_bytes / 4;
  });
  const space::Choice tile = best_tile(tiles, extent_of(a, "ow"), extent_of(a, "oc"));
  return {{"product", tile}, {"rows", {{rows_for(tile)}}}, {"unroll", {{1}}}};
}

void prepare_product(TraceWriter& t, const ir::Program& program) {
  for (const ir::Stage& stage : program.stages) {
    const bool own = stage.name == kProduct || stage.name == kResult || stage.name == kFilter;
    if (!stage.name.starts_with(kPrefix) || own || depends_on_constants(program, stage)) continue;
    t.inline_stage(stage.name);
  }
}

namespace {

// The loops of one register tile of `stage`, the product or a part of it; `ic` is its loop over
// input channels.
void place_tile(TraceWriter& t, const ir::Stage& a, const space::Values& values,
                const std::string& stage, const std::string& ic) {
  const auto tile = values.numbers("product");
  const std::int64_t ib = extent_of(a, "ib"), kw = extent_of(a, "kw");
  schedule::Names order{"n", ic, "kh", "kw"};
  if (ib > 0) {
    t.split(stage, "ib", {std::min(values["unroll"], ib)});
    order.insert(order.end(), {"ib.0", "ib.1"});
  }
  order.push_back("oh");
  // The smaller operand is loaded first and held, the other streams.
  if (tile[1] <= tile[0]) {
    order.insert(order.end(), {"ow", "oc", "ob"});
  } else {
    order.insert(order.end(), {"oc", "ow", "ob"});
  }
  t.reorder(stage, order);
  t.registers(stage);
  if (ib > 0) {
    t.unroll(stage, "ib.1");
  } else if (kw > 1 && kw * tile[0] * tile[1] <= kLongestBody) {
    t.unroll(stage, "kw");
    t.annotate(stage, "kw", "launder", "on");
  }
  for (const char* axis : {"oh", "ow", "oc"}) t.unroll(stage, axis);
  t.vectorize(stage, "ob");
}

}  // namespace

void place_product(TraceWriter& t, const ir::Program& program, const space::Values& values,
                   const std::string& loop, bool several_threads) {
  const ir::Stage& a = *program.find_stage(kProduct);
  const auto& axes = program.find_stage(kResult)->axes;
  const auto tile = values.numbers("product");
  const std::int64_t ib = extent_of(a, "ib"), steps = extent_of(a, "ic");
  const std::int64_t terms =
      extent_of(a, "kh") * extent_of(a, "kw") * std::max<std::int64_t>(1, ib);
  const std::int64_t part = steps_of_part(a, steps, terms);
  const bool in_parts = part < steps;
  if (in_parts) {
    t.split(kProduct, "ic", {part});
    t.rfactor(kProduct, "ic.0");
  }
  const std::string oc = axes[1].name, oh = axes[2].name, ow = axes[3].name, ob = axes[4].name;
  t.compute_at(kResult, "output", loop);
  t.split(kResult, ow, {tile[0]});
  t.reorder(kResult, {axes[0].name, oh, ow + ".0", ow + ".1", oc, ob});
  // With fewer terms the product stores so often itself that claims would be in its way.
  constexpr std::int64_t kFewestTerms = 24;
  if (several_threads && steps * terms >= kFewestTerms) {
    t.annotate(kResult, oh, "claim", "stores");
  }
  t.compute_at(kProduct, kResult, ow + ".0");
  t.unroll(kResult, ow + ".1");
  t.unroll(kResult, oc);
  t.vectorize(kResult, ob);
  if (in_parts) {
    t.reorder(kProduct, {"n", "ic_0", "oh", "ow", "oc", "ob"});
    t.compute_at("rf." + kProduct, kProduct, "ic_0");
    for (const char* axis : {"oh", "ow", "oc"}) t.unroll(kProduct, axis);
    t.vectorize(kProduct, "ob");
  }
  place_tile(t, a, values, in_parts ? "rf." + kProduct : kProduct, in_parts ? "ic_1" : "ic");
  const std::string group = std::to_string(tile[1] * extent_of(a, "ob"));
  const std::string block = std::to_string(ib);
  if (ib > 1) {
    t.layout(kFilter, {"oc/" + group, "ic/" + block, "kh", "kw", "ic%" + block, "oc%" + group});
  } else {
    t.layout(kFilter, {"oc/" + group, "ic", "kh", "kw", "oc%" + group});
  }
}

}  // namespace attune::templates
