// Traffic between the levels of memory: the outermost loop whose data fit into a cache decides what
// is loaded again and how often.
#include <algorithm>
#include <array>
#include <cmath>

#include "tuner/cost_model/stage_cost.h"
#include "tuner/space/aliasing.h"
#include "tuner/space/register_tile.h"

namespace attune::cost_model {
namespace {

using space::Spans;
using space::StageNest;

constexpr std::int64_t kLine = 64;
constexpr std::size_t kMaxLevels = 48;
constexpr double kWaitsWhoAsks = 0.25;  // for a block that it uses again and again

// How a stage uses a buffer.
struct Use {
  std::size_t made_at = 0;  // the level inside of which it is made
  double weight = 1;        // a written byte is read and written back
  bool blocked = false;     // padded to whole blocks, which are loaded as such
  bool ahead = false;       // made before the kernel ever runs, or constant
  bool foreign = false;     // made before by all threads, most of it by others
};

// Bytes that one buffer occupies inside of each level; the last entry is for a single iteration.
struct Footprints {
  Use use;
  double of_thread = 1;  // the part that one thread's iterations of the shared loop touch
  std::array<double, kMaxLevels + 1> bytes;
};

bool is_constant(const schedule::State& state, const ir::Buffer& buffer) {
  return std::any_of(state.inputs.begin(), state.inputs.end(), [&](const ir::Input& input) {
    return input.buffer == buffer && input.constant;
  });
}

// A cache is one thread's, or that of all.
enum class Owner { Thread, All };

// The loop whose iterations the threads share, each a contiguous range.
struct SharedLoop {
  std::size_t level;  // past the end: there is none
  double of_thread = 1, threads = 1;
};

SharedLoop shared_loop(const StageNest& nest, const target::Target& target) {
  if (nest.shared >= nest.levels.size()) return {nest.levels.size()};
  const double extent = static_cast<double>(nest.levels[nest.shared].extent);
  const double rounds = std::ceil(extent / std::max(1, target.threads));
  return {nest.shared, rounds, std::ceil(extent / rounds)};
}

// The index without a constant that is added to it.
const ir::Expr& without_constant(const ir::Expr& index) {
  const auto* sum = ir::as<ir::Binary>(index);
  return sum && sum->op == ir::BinOp::Add && ir::as_int(sum->rhs) ? sum->lhs : index;
}

// Whether two reads are neighbours, and so move through the same memory.
bool side_by_side(const schedule::Access& a, const schedule::Access& b) {
  if (a.buffer != b.buffer) return false;
  for (std::size_t d = 0; d < a.dims.size(); ++d) {
    const schedule::AccessDim &x = a.dims[d], &y = b.dims[d];
    if (x.linear != y.linear) return false;
    if (x.linear ? x.terms != y.terms
                 : !ir::equal(without_constant(x.index), without_constant(y.index))) {
      return false;
    }
  }
  return true;
}

class StageFootprints {
 public:
  StageFootprints(const schedule::State& state, const std::vector<StageNest>& nests,
                  std::size_t index, const target::Target& target)
      : nest_(nests[index]),
        levels_(nest_.levels.size()),
        shared_(shared_loop(nest_, target)),
        others_(1 - 1.0 / std::max(1, target.threads)) {
    CHECK(levels_ <= kMaxLevels, "a stage lies inside of too many loops");
    const schedule::StageState& stage = *state.stages[index];
    Spans still = nest_.levels.empty() ? Spans{} : nest_.levels[0].spans;
    for (std::size_t i = 0; i < still.size; ++i) still[i] = 1;
    const auto& accesses = stage.accesses;
    for (std::size_t a = 0; a < accesses.size(); ++a) {
      const schedule::Access& access = accesses[a];
      const auto end = accesses.begin() + static_cast<std::ptrdiff_t>(a);
      if (std::any_of(accesses.begin(), end,
                      [&](const auto& other) { return side_by_side(other, access); })) {
        continue;
      }
      const int producer = state.producer_of(access.buffer);
      std::size_t made_at = 0;
      bool row_major = true, ahead = is_constant(state, access.buffer), foreign = false;
      if (producer >= 0) {
        const auto p = static_cast<std::size_t>(producer);
        if (state.stages[p]->scope == ir::Scope::Register) continue;
        made_at = nests[p].own;
        row_major = state.stages[p]->layout.empty();
        ahead = nests[p].ahead;
        const bool parallel = shared_.level < levels_ || nests[p].shared < nests[p].levels.size();
        foreign = parallel && !nests[p].ahead && nests[p].root != nest_.root;
      }
      add({.made_at = made_at, .blocked = !row_major, .ahead = ahead, .foreign = foreign}, still,
          [&](const Spans& spans) { return space::touched_bytes(access, spans, row_major); });
    }
    if (stage.scope != ir::Scope::Register) {
      add({.made_at = nest_.own, .weight = 1.6}, still,
          [&](const Spans& spans) { return space::written_bytes(stage.stage, spans); });
    }
  }

  // Bytes that come from beyond a cache of this size, for all threads. Caches do not fail all at
  // once: the mean of what smaller and larger ones would do, of the roots, as one that is a little
  // too small keeps most of what one half its size would load again and again.
  double beyond(double capacity, Owner owner) const {
    const double root = 0.25 * std::sqrt(beyond_sharp(0.5 * capacity, owner)) +
                        0.5 * std::sqrt(beyond_sharp(capacity, owner)) +
                        0.25 * std::sqrt(beyond_sharp(2 * capacity, owner));
    return root * root;
  }

  // The part of what comes from beyond a cache of this size that are blocks which one thread uses
  // again and again.
  double in_bursts(double capacity) const {
    return part_of(capacity, [&](const Footprints& buffer, std::size_t fits) {
      return is_used_again(buffer, still_from(buffer, fits, Owner::Thread));
    });
  }

  // Bytes of constants and of what was computed of them ahead.
  double weights() const {
    double bytes = 0;
    for (const Footprints& buffer : buffers_) bytes += buffer.use.ahead ? buffer.bytes[0] : 0;
    return bytes;
  }

  // Bytes that come from the caches of other cores, which are of this size: what their threads have
  // just made.
  double exchanged(double capacity) const {
    double bytes = 0;
    for (const Footprints& buffer : buffers_) {
      if (!buffer.use.foreign) continue;
      bytes += std::min(capacity, bytes_in(buffer, 0, Owner::Thread)) * others_ * shared_.threads;
    }
    return bytes;
  }

  // Cache lines of the results that two threads write to: those in which the elements of one end
  // and of the other begin. Where these end with lines, the processor still loads lines ahead now
  // and then that are the other's.
  double lines_of_two(const schedule::StageState& state) const {
    constexpr double kLoadedAhead = 0.25;
    const ir::Stage& stage = state.stage;
    const bool row_major = state.layout.empty() && state.scope != ir::Scope::Register;
    if (!row_major || shared_.level >= levels_ || shared_.level < nest_.own) return 0;
    if (stage.axes.empty() || shared_.threads < 2) return 0;
    std::int64_t inner = stage.outputs[0]->type.bytes();  // of all axes behind the one that is cut
    std::size_t cut = stage.axes.size() - 1;
    while (cut > 0 && nest_.of_thread[cut] >= stage.axes[cut].extent) {
      inner *= stage.axes[cut--].extent;
    }
    const std::int64_t whole = stage.axes[cut].extent, own = nest_.of_thread[cut];
    if (own >= whole) return 0;
    const bool whole_lines = own * inner % kLine == 0 && whole * inner % kLine == 0;
    double lines = static_cast<double>((whole + own - 1) / own - 1);
    for (std::size_t a = 0; a < cut; ++a) lines *= static_cast<double>(stage.axes[a].extent);
    return lines * (whole_lines ? kLoadedAhead : 1);
  }

 private:
  // The share that some buffers have in what comes from beyond a cache of this size.
  template <typename Counts>
  double part_of(double capacity, const Counts& counts) const {
    const std::size_t fits = level_that_fits(capacity, Owner::Thread);
    double all = 0, part = 0;
    for (const Footprints& buffer : buffers_) {
      const double bytes = loaded(buffer, fits, Owner::Thread) * buffer.use.weight;
      all += bytes;
      if (counts(buffer, fits)) part += bytes;
    }
    return all > 0 ? part / all : 0;
  }

  std::size_t level_that_fits(double capacity, Owner owner) const {
    std::size_t fits = 0;
    while (fits < levels_ && working_set(fits, owner) > capacity) ++fits;
    return fits;
  }

  double beyond_sharp(double capacity, Owner owner) const {
    const std::size_t fits = level_that_fits(capacity, owner);
    if (fits == 0) return 0;
    double bytes = 0;
    for (const Footprints& buffer : buffers_) {
      bytes += loaded(buffer, fits, owner) * buffer.use.weight;
    }
    return owner == Owner::Thread ? bytes * shared_.threads : bytes;
  }

  template <typename Bytes>
  void add(const Use& use, const Spans& still, const Bytes& bytes_of) {
    Footprints footprints;
    footprints.use = use;
    for (std::size_t level = levels_ + 1; level-- > 0;) {
      // Outside of the loop in which the buffer is made it is always the same memory.
      footprints.bytes[level] = level < use.made_at && level < levels_ ? footprints.bytes[level + 1]
                                : level == levels_                     ? bytes_of(still)
                                                   : bytes_of(nest_.levels[level].spans);
    }
    if (shared_.level < levels_ && shared_.level >= use.made_at) {
      footprints.of_thread = bytes_of(nest_.of_thread) / footprints.bytes[shared_.level];
    }
    buffers_.push_back(footprints);
  }

  double bytes_in(const Footprints& buffer, std::size_t level, Owner owner) const {
    const bool part = owner == Owner::Thread && level <= shared_.level && shared_.level < levels_;
    return buffer.bytes[level] * (part ? buffer.of_thread : 1);
  }

  double working_set(std::size_t level, Owner owner) const {
    double bytes = 0;
    for (const Footprints& buffer : buffers_) bytes += bytes_in(buffer, level, owner);
    return bytes;
  }

  // The first of the loops around what fits that does not move the buffer, from which on it is the
  // same memory.
  std::size_t still_from(const Footprints& buffer, std::size_t fits, Owner owner) const {
    std::size_t level = fits;
    while (level > 0 && bytes_in(buffer, level - 1, owner) == bytes_in(buffer, fits, owner))
      --level;
    return level;
  }

  double iterations(std::size_t level, Owner owner) const {
    const bool part = owner == Owner::Thread && level == shared_.level;
    return part ? shared_.of_thread : static_cast<double>(nest_.levels[level].extent);
  }

  // Whether a thread goes through blocks of the buffer more than once, from this loop on. Those of
  // less than a page do not count: the hardware goes on to what follows in one.
  bool is_used_again(const Footprints& buffer, std::size_t level) const {
    constexpr double kPage = 4096;
    for (; level < levels_ && buffer.bytes[level + 1] >= kPage; ++level) {
      const bool still = buffer.bytes[level + 1] == buffer.bytes[level];
      if (still && iterations(level, Owner::Thread) > 1) return true;
    }
    return false;
  }

  // Loops that do not move the buffer find it still there; the first that does loads what is new,
  // and all loops outside of that one load everything again: for a part of a tile as much as for a
  // whole one, unless it is the buffer itself that ends there.
  double loaded(const Footprints& buffer, std::size_t fits, Owner owner) const {
    std::size_t level = still_from(buffer, fits, owner);
    if (level == 0) return bytes_in(buffer, fits, owner);
    --level;
    double bytes = bytes_in(buffer, level, owner);
    for (std::size_t i = 0; i < level; ++i) {
      const bool ends = buffer.bytes[i] != buffer.bytes[i + 1] && !buffer.use.blocked;
      bytes *= iterations(i, owner) * (ends ? nest_.levels[i].useful : 1);
    }
    return bytes;
  }

  const StageNest& nest_;
  std::size_t levels_;
  SharedLoop shared_;
  double others_;  // the part of what all threads made that others than one of them did
  std::vector<Footprints> buffers_;
};

// Bytes that rows push out of the first-level cache although it is large enough: elements read one
// by one from more rows at such a distance than the cache has ways come from the second level, a
// line each.
double aliased_bytes(const schedule::State& state, const schedule::StageBounds& bounds,
                     const StageNest& nest, std::size_t index, const target::Target& target) {
  const schedule::StageState& stage = *state.stages[index];
  const space::RegisterTile tile = space::register_tile(stage, bounds, target);
  Spans step = tile.spans;
  double steps = nest.useful;
  for (std::size_t i = stage.stage.axes.size(); i < step.size; ++i) {
    steps *= static_cast<double>(step[i]);
    step[i] = 1;
  }
  const std::size_t inner = nest.own + static_cast<std::size_t>(tile.body);
  for (std::size_t i = 0; i < inner; ++i) steps *= static_cast<double>(nest.levels[i].extent);
  const auto ways = static_cast<double>(target.l1_bytes / space::kAliasBytes);
  double bytes = 0;
  for (const schedule::Access& access : stage.accesses) {
    if (!space::layout_of(state, access.buffer).empty()) continue;
    const double rows = space::aliased_rows(access, step);
    const double share = std::clamp((rows - ways + 1) / 5, 0.0, 1.0);
    if (rows > ways) bytes += share * rows * static_cast<double>(kLine) * steps;
  }
  return bytes;
}

// Lines of weights that a core waits for at once: those that the instructions in its window read.
double lines_at_once(const schedule::State& state, const schedule::StageBounds& bounds,
                     const std::vector<StageNest>& nests, const schedule::StageState& stage,
                     const Memory& memory) {
  const space::RegisterTile tile = space::register_tile(stage, bounds, memory.target);
  double lines = 0;
  for (const schedule::Access& access : stage.accesses) {
    const int producer = state.producer_of(access.buffer);
    const bool ahead = producer < 0 ? is_constant(state, access.buffer)
                                    : nests[static_cast<std::size_t>(producer)].ahead;
    const bool row_major =
        producer < 0 || state.stages[static_cast<std::size_t>(producer)]->layout.empty();
    if (ahead) lines += space::touched_bytes(access, tile.spans, row_major) / kLine;
  }
  double instructions = lines;
  double results = 1;
  for (std::size_t i = 0; i < tile.spans.size; ++i) results *= static_cast<double>(tile.spans[i]);
  instructions += results / static_cast<double>(std::max<std::int64_t>(1, tile.lanes));
  return memory.machine.reorder_window * lines / instructions;
}

}  // namespace

bool asks_ahead(const schedule::StageState& stage, const schedule::StageBounds& bounds) {
  return std::any_of(stage.loops.begin(), stage.loops.end(), [&](int loop) {
    return bounds.iters[loop] > 1 &&
           schedule::find_note(stage.iters[loop].notes, "prefetch") != nullptr;
  });
}

Traffic memory_traffic(const schedule::State& state, const schedule::StageBounds& bounds,
                       const std::vector<StageNest>& nests, std::size_t stage,
                       const Memory& memory) {
  const target::Target& target = memory.target;
  const StageFootprints footprints(state, nests, stage, target);
  const auto share = [&](std::int64_t bytes) {
    return static_cast<double>(bytes) * memory.machine.cache_share;
  };
  Traffic traffic{.from_l2 = footprints.beyond(share(target.l1_bytes), Owner::Thread) +
                             aliased_bytes(state, bounds, nests[stage], stage, target),
                  .from_l3 = footprints.beyond(share(target.l2_bytes), Owner::Thread),
                  .from_dram = footprints.beyond(share(target.l3_bytes), Owner::All)};
  if (memory.cold_weights) {
    traffic.cold = footprints.weights();
    traffic.from_dram = std::max(0.0, traffic.from_dram - traffic.cold);
    traffic.from_l3 = std::max(0.0, traffic.from_l3 - traffic.cold);
    if (!asks_ahead(*state.stages[stage], bounds) && traffic.cold > 0) {
      traffic.cold_at_once =
          kLine * lines_at_once(state, bounds, nests, *state.stages[stage], memory);
    }
  }
  // Who asks ahead waits for less of it.
  const double waits = asks_ahead(*state.stages[stage], bounds) ? kWaitsWhoAsks : 1;
  traffic.in_bursts = waits * footprints.in_bursts(share(target.l2_bytes));
  if (target.threads > 1) {
    traffic.from_cores = footprints.exchanged(share(target.l2_bytes));
    traffic.lines_of_two = footprints.lines_of_two(*state.stages[stage]);
  }
  return traffic;
}

}  // namespace attune::cost_model
