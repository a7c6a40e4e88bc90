// Winograd convolutions F(m, r) as three launches. Every thread of the first transforms one tile of
// a channel's input and every thread of the last one tile of results, with all that was fused
// behind it: what a tile reads is read before any of it is combined, and lies in registers. Between
// them stands a batch of products, one for each point of a tile, which the template for products
// schedules as any other.
#include <algorithm>
#include <set>
#include <variant>

#include "compiler/ir/nodes/rewrite.h"
#include "tuner/templates/dataflow.h"
#include "tuner/templates/inlining.h"
#include "tuner/templates/launches/launches.h"
#include "tuner/templates/launches/whole_program.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

constexpr double kWastedWork = 400;
constexpr const char* kThreads = "transform.threads";
constexpr const char* kLanes = "transform.lanes";
// Of a thread, for a tile before and after its first half: more would leave no room for sums.
constexpr std::int64_t kMostTileBytes = 640;
constexpr std::int64_t kMostRows = 64;  // of tiles, of a block

const std::set<std::string> kKept{"pad", "input.rows", "input.wino", "output.rows"};

Inlined inlined_of(const space::Subject& subject) {
  return inline_producers(subject, kWastedWork, kKept);
}

// The program with a copy of the transformed input, which products fetch from memory.
struct Cut {
  schedule::Trace steps;
  ir::Program whole;     // after these steps
  ir::Program products;  // what of it makes the products, the transformed input given
};

// All that `stage` is made of, as far as `given` is not.
ir::Program made_of(const ir::Program& program, const ir::Stage& stage, const ir::Buffer& given) {
  std::set<ir::Buffer> wanted{stage.outputs[0]};
  ir::Program part{program.name, {}, {}, {stage.outputs[0]}};
  for (auto each = program.stages.rbegin(); each != program.stages.rend(); ++each) {
    if (wanted.count(each->outputs[0]) == 0 || each->outputs[0] == given) continue;
    for (const auto& [buffer, count] : reads_of(*each)) wanted.insert(buffer);
    part.stages.insert(part.stages.begin(), *each);
  }
  for (const ir::Input& input : program.inputs) {
    if (wanted.count(input.buffer) > 0) part.inputs.push_back(input);
  }
  part.inputs.push_back({given, false});
  return part;
}

Cut make_cut(const space::Subject& subject) {
  Inlined inlined = inlined_of(subject);
  Cut cut{std::move(inlined.steps), {}, {}};
  cut.steps.push_back(schedule::CacheRead{"input.wino", "anchor"});
  schedule::State state = schedule::initial_state(subject.program);
  for (const schedule::Step& step : cut.steps) {
    CHECK(schedule::perform(state, step).ok(), "a step that fits every such program");
  }
  cut.whole = schedule::program_of(state);
  cut.products = made_of(cut.whole, *cut.whole.find_stage("anchor"),
                         cut.whole.find_stage("input.wino")->outputs[0]);
  return cut;
}

// The same objects each time, so that what is known of them is found again.
Cut cut_of(const space::Subject& subject) {
  return *subject.findings.of<Cut>(subject.program, std::monostate(),
                                   [&] { return make_cut(subject); });
}

// What schedules the products.
const space::Template& template_of(const space::Subject& products, const target::Target& target) {
  for (const space::Template& each : launches()) {
    if (each.name != "winograd" && each.fits_on(products, target)) return each;
  }
  return launches().back();
}

bool fits(const ir::Program& program) {
  const ir::Stage* anchor = program.find_stage("anchor");
  const ir::Stage* transformed = program.find_stage("output.wino");
  const ir::Stage* output = program.find_stage("output");
  return anchor &&
         (has_axes(*anchor, {"i", "j", "oc", "tile", "ob"}, {"ic", "ib"}) ||
          has_axes(*anchor, {"i", "j", "ph", "pw", "oc", "tile", "ob"}, {"ic", "ib"})) &&
         program.find_stage("input.wino") && program.find_stage("input.rows") &&
         program.find_stage("output.rows") && output && transformed &&
         transformed->axes.size() == 5;
}

// Lanes that a thread takes at once of blocks of so many: all of a vector, or fewer.
std::vector<std::int64_t> lanes_of(const ir::Program& program) {
  const ir::Stage& anchor = *program.find_stage("anchor");
  const std::int64_t phases = std::max<std::int64_t>(1, extent_of(anchor, "ph")) *
                              std::max<std::int64_t>(1, extent_of(anchor, "pw"));
  const std::int64_t points = extent_of(anchor, "i") * extent_of(anchor, "j") * phases;
  constexpr std::int64_t kHalves = 2, kElement = 4;
  std::vector<std::int64_t> lanes{1};
  for (const std::int64_t each : {2, 4}) {
    if (extent_of(anchor, "ib") % each == 0 && extent_of(anchor, "ob") % each == 0 &&
        kHalves * points * each * kElement <= kMostTileBytes) {
      lanes.push_back(each);
    }
  }
  return lanes;
}

std::vector<space::Knob> knobs(const space::Subject& subject, const target::Target& target) {
  const Cut cut = cut_of(subject);
  const space::Subject products{cut.products, subject.findings};
  std::vector<space::Knob> list = template_of(products, target).knobs(products, target);
  std::vector<std::int64_t> threads;
  for (const std::int64_t count : {32, 64, 128, 256}) {
    if (count <= target.launch.threads_per_block) threads.push_back(count);
  }
  if (threads.empty()) threads.push_back(target.launch.threads_per_block);
  list.push_back(space::choice_of(kThreads, threads));
  list.push_back(space::choice_of(kLanes, lanes_of(subject.program)));
  return list;
}

space::Settings default_values(const space::Subject& subject, const target::Target& target) {
  const Cut cut = cut_of(subject);
  const space::Subject products{cut.products, subject.findings};
  space::Settings settings = template_of(products, target).default_values(products, target);
  settings.push_back({kThreads, {{128}}});
  settings.push_back({kLanes, {{1}}});
  return settings;
}

std::optional<std::string> reject(const space::Subject& subject, const target::Target& target,
                                  const space::Values& values) {
  const Cut cut = cut_of(subject);
  const space::Subject products{cut.products, subject.findings};
  const space::Template& schedule_template = template_of(products, target);
  if (!schedule_template.reject) return std::nullopt;
  return schedule_template.reject(products, target, values);
}

// How tiles lie over an image, and how many results each makes.
struct TileGrid {
  std::int64_t rows = 1, columns = 1;
  std::int64_t height = 1, width = 1;
};

// Tiles of a row, by which their numbers are divided where their pixels are read.
std::int64_t columns_of(const ir::Stage& rows) {
  std::int64_t columns = 1;
  ir::visit(rows.values[0], [&](const ir::Expr& e) {
    const auto* quotient = ir::as<ir::Binary>(e);
    if (quotient == nullptr || quotient->op != ir::BinOp::Div) return;
    const auto* tile = ir::as<ir::Var>(quotient->lhs);
    const std::int64_t* count = ir::as_int(quotient->rhs);
    if (tile != nullptr && tile->name == "tile" && count != nullptr) columns = *count;
  });
  return columns;
}

TileGrid grid_of(const ir::Program& program) {
  const ir::Stage& results = *program.find_stage("output.rows");
  const auto places = [&](const char* phases) {
    return extent_of(results, "y") * std::max<std::int64_t>(1, extent_of(results, phases));
  };
  TileGrid grid{.height = places("ph"), .width = places("pw")};
  grid.columns = columns_of(*program.find_stage("input.rows"));
  const std::int64_t images = program.find_stage("output.wino")->axes[0].extent;
  grid.rows = std::max<std::int64_t>(1, extent_of(results, "tile") / (images * grid.columns));
  return grid;
}

// The two transforms. Tiles are told apart by loops over rows and columns of them, each bound by
// itself: where a tile begins is then known as a sum.
class TransformWriter {
 public:
  TransformWriter(LaunchWriter& writer, const ir::Program& program, const TileGrid& grid,
                  const space::Values& values)
      : writer_(writer),
        program_(program),
        grid_(grid),
        threads_(values[kThreads]),
        lanes_(values[kLanes]) {}

  bool write_input() {
    const std::string host = "input.wino";
    if (!perform(schedule::Split{host, "tile", {grid_.rows, grid_.columns}})) return false;
    Loops loops{.image = "tile.0",
                .rows = "tile.1",
                .columns = "tile.2",
                .lane = "ib",
                .grid_rows = grid_.rows,
                .grid_columns = grid_.columns};
    loops.channels = {"ic"};
    // Phases read the same pixels.
    for (const char* name : {"ph", "pw", "i", "j"}) {
      if (writer_.stage(host).find_loop(name) >= 0) loops.inner.push_back(name);
    }
    // The whole tile first, then its rows.
    return bind_tiles(host, loops) && hold("input.rows", host) && hold_pixels(host);
  }

  bool write_output(const ir::Stage& host) {
    const std::string rows = host.axes[2].name, columns = host.axes[3].name;
    if (!perform(schedule::Split{host.name, rows, {grid_.height}}) ||
        !perform(schedule::Split{host.name, columns, {grid_.width}})) {
      return false;
    }
    const Loops loops{.channels = {host.axes[1].name},
                      .image = host.axes[0].name,
                      .rows = rows + ".0",
                      .columns = columns + ".0",
                      .lane = host.axes[4].name,
                      .inner = {rows + ".1", columns + ".1"},
                      .grid_rows = (host.axes[2].extent + grid_.height - 1) / grid_.height,
                      .grid_columns = (host.axes[3].extent + grid_.width - 1) / grid_.width};
    return bind_tiles(host.name, loops) && hold("output.rows", host.name);
  }

 private:
  // Of a stage: `inner` is what a thread writes.
  struct Loops {
    schedule::Names channels = {};
    std::string image = {}, rows = {}, columns = {}, lane = {};
    schedule::Names inner = {};
    std::int64_t grid_rows = 1, grid_columns = 1;  // how often the loops run
  };

  bool perform(const schedule::Step& step) { return writer_.perform(step); }

  // Neighbouring lanes, then columns, then rows go to neighbouring threads.
  bool bind_tiles(const std::string& host, Loops loops) {
    const std::int64_t lanes = extent_of(writer_.stage(host).stage, loops.lane) / lanes_;
    const std::int64_t most = writer_.device().threads_per_block / 2 / lanes;
    const std::int64_t columns = largest_part(loops.grid_columns, std::max<std::int64_t>(1, most));
    const std::int64_t rows = largest_part(
        loops.grid_rows, std::clamp<std::int64_t>(threads_ / (lanes * columns), 1, kMostRows));
    const std::string vector = loops.lane + ".1";
    if (!perform(schedule::Split{host, loops.lane, {lanes_}}) ||
        !perform(schedule::Split{host, loops.rows, {rows}}) ||
        !perform(schedule::Split{host, loops.columns, {columns}})) {
      return false;
    }
    thread_ = loops.lane + ".0";
    schedule::Names order(loops.channels);
    order.insert(order.end(), {loops.image, loops.rows + ".0", loops.columns + ".0",
                               loops.rows + ".1", loops.columns + ".1", thread_});
    order.insert(order.end(), loops.inner.begin(), loops.inner.end());
    order.push_back(vector);
    if (!perform(schedule::Reorder{host, order})) return false;
    const std::string channels = writer_.fused(host, loops.channels);
    const std::pair<std::string, const char*> bound[] = {{channels, "block.x"},
                                                         {loops.image, "block.z"},
                                                         {loops.rows + ".0", "block.y"},
                                                         {loops.rows + ".1", "thread.z"},
                                                         {loops.columns + ".1", "thread.y"},
                                                         {thread_, "thread.x"}};
    for (const auto& [loop, axis] : bound) {
      if (!perform(schedule::Bind{host, loop, axis})) return false;
    }
    for (const std::string& loop : loops.inner) {
      if (!perform(schedule::Unroll{host, loop})) return false;
    }
    return run_along(host, vector);
  }

  // Of equal parts of at most so many, the largest: a tile beyond the last one of its row would be
  // the first of the next.
  static std::int64_t largest_part(std::int64_t extent, std::int64_t most) {
    std::int64_t part = std::min(extent, most);
    while (extent % part != 0) --part;
    return part;
  }

  bool run_along(const std::string& stage, const std::string& loop) {
    return lanes_ > 1 ? perform(schedule::Vectorize{stage, loop})
                      : perform(schedule::Unroll{stage, loop});
  }

  // Computed by each thread for its tile, written out, in registers.
  bool hold(const std::string& stage, const std::string& host) {
    if (!perform(schedule::ComputeAt{stage, host, thread_}) ||
        !perform(schedule::SetScope{stage, "register"})) {
      return false;
    }
    schedule::Names axes = writer_.loops(stage, false);
    const std::string last = axes.back();
    axes.pop_back();
    for (const std::string& axis : axes) {
      if (!perform(schedule::Unroll{stage, axis})) return false;
    }
    return run_along(stage, last);
  }

  // What rows are made of: a stage that finds the border on its way, or the input as it is.
  bool hold_pixels(const std::string& host) {
    const ir::Stage& rows = *program_.find_stage("input.rows");
    const ir::Buffer pixels = reads_of(rows).begin()->first;
    if (program_.producer(pixels) != nullptr) return hold(pixels->name, host);
    return perform(schedule::CacheRead{pixels->name, rows.name}) &&
           hold("cache." + pixels->name, host);
  }

  LaunchWriter& writer_;
  const ir::Program& program_;
  const TileGrid grid_;
  const std::int64_t threads_, lanes_;
  std::string thread_;  // the loop of the host
};

// The stage that the results are stored by: the last one, unless that arranges them differently.
const ir::Stage* host_of_results(const ir::Program& program) {
  const auto readers = readers_of(program, *program.find_stage("output.rows"));
  if (readers.size() != 1 || reduces(*readers[0]) || readers[0]->axes.size() != 5) return nullptr;
  return readers[0];
}

space::Written trace(const space::Subject& subject, const target::Target& target,
                     const space::Values& values) {
  const Cut cut = cut_of(subject);
  const space::Subject products{cut.products, subject.findings};
  LaunchWriter writer(subject, cut.steps, target.launch);
  for (const schedule::Step& step : template_of(products, target).trace(products, target, values)) {
    writer.perform(step);
  }
  std::set<std::string> done{"cache.input.wino"};
  for (const ir::Stage& stage : cut.products.stages) done.insert(stage.name);
  TransformWriter transforms(writer, cut.whole, grid_of(subject.program), values);
  if (writer.together([&] { return transforms.write_input(); })) {
    done.insert({"pad", "input.rows", "input.wino"});
  }
  const ir::Stage* host = host_of_results(cut.whole);
  if (host != nullptr && writer.together([&] { return transforms.write_output(*host); })) {
    done.insert({"output.rows", host->name});
  }
  write_others(writer, cut.whole, done,
               {.tiling = {.threads_y = 4, .tile_y = 1, .threads_x = 16, .tile_x = 1},
                .threads = values[kThreads],
                .per_thread = 1});
  return writer.take();
}

}  // namespace

space::Template launch_winograd() {
  return {"winograd", fits, knobs, trace, default_values, reject};
}

}  // namespace attune::templates
