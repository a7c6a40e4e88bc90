#include "tuner/templates/gemm_shares.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>

#include "tuner/templates/program_facts.h"
#include "tuner/templates/register_tile.h"

namespace attune::templates {
namespace {

constexpr std::int64_t kCounts[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};
constexpr std::size_t kMostChoices = 3;
constexpr std::int64_t kFewestSteps = 16;  // of a share: with fewer it is mostly stored and loaded

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Whether there are tiles that threads could have instead, each with the whole reduction.
bool enough_tiles(const GemmShape& s, std::span<const std::int64_t> tile,
                  const target::Target& target) {
  constexpr std::int64_t kEach = 4;
  return s.batch * ceil_div(s.m, tile[0]) * ceil_div(s.vectors(), tile[1]) >=
         kEach * target.threads;
}

// Whether threads that share out all panels of all shares have one each at least, and are busy for
// three quarters of the time or more: two always are.
bool keeps_busy(const GemmShape& s, std::int64_t shares, std::span<const std::int64_t> tile,
                const target::Target& target) {
  const std::int64_t pieces = s.batch * shares * ceil_div(s.vectors(), tile[1]);
  const std::int64_t most = ceil_div(pieces, target.threads);  // of one thread
  return pieces >= target.threads && 4 * pieces >= 3 * most * target.threads;
}

// Whether adding up the matrices takes so long that starting the threads for it pays.
bool adds_in_parallel(const GemmShape& s, std::int64_t shares, const target::Target& target) {
  const target::Machine& machine = target.machine;
  const double loads = static_cast<double>(s.batch * s.m * s.vectors() * shares);
  return loads / (machine.loads_per_cycle * machine.ghz * 1e3) >
         2 * target::fork_join_us(machine, target.threads);
}

// The matrices of the shares; each is summed up in registers, tile by tile.
void place_shares(TraceWriter& t, const space::Values& values, const GemmParts& p) {
  const auto tile = values.numbers("tile");
  const std::int64_t lanes = p.shape.lanes;
  t.cache_write("rf.anchor");
  t.split("rf.anchor", "i", {tile[0]});
  t.split("rf.anchor", "j", {tile[1], lanes});
  schedule::Names shared{"k_0", "j.0"}, layout{"k_0", "i", "j"};
  if (!p.b.empty()) {
    shared.insert(shared.begin(), "b");
    layout.insert(layout.begin(), "b");
  }
  schedule::Names order = shared;
  order.insert(order.end(), {"i.0", "i.1", "j.1", "j.2"});
  t.reorder("rf.anchor", order);
  t.layout("rf.anchor", layout);
  t.fuse("rf.anchor", shared);
  t.compute_at("cache.rf.anchor", "rf.anchor", "i.0");
  if (values["pack"] == 1 || p.right.prepared) {
    const std::string at = p.right.copied() ? fused_name(shared) : "";
    pack_panels(t, p.right, {tile[1], lanes}, "cache.rf.anchor", {"rf.anchor", at});
  } else {
    leave_unpacked(t, p.right);
  }
  register_tile(t, "cache.rf.anchor", "k_1", values, lanes);
  t.parallel("rf.anchor", fused_name(shared));
  t.unroll("rf.anchor", "i.1");
  t.unroll("rf.anchor", "j.1");
  t.vectorize("rf.anchor", "j.2");
}

}  // namespace

space::Knob shares_knob(const GemmShape& s, const target::Target& target) {
  std::vector<std::int64_t> counts{0};
  const auto tile = best_tile(register_tiles("tile", s.m, s.vectors(), target), s.m, s.vectors());
  if (target.threads > 1 && !enough_tiles(s, tile.numbers, target)) {
    std::set<std::int64_t> offered(std::begin(kCounts), std::end(kCounts));
    offered.insert({target.threads, 2 * target.threads});
    for (const std::int64_t count : offered) {
      // No longer sums than elsewhere.
      const bool fits = ceil_div(s.k, count) <= s.part && s.k >= count * kFewestSteps;
      if (fits && keeps_busy(s, count, tile.numbers, target) && counts.size() <= kMostChoices) {
        counts.push_back(count);
      }
    }
  }
  return space::choice_of("shares", counts);
}

std::optional<std::string> shares_flaw(const GemmShape& s, const target::Target& target,
                                       const space::Values& values) {
  if (values["shares"] == 0) return std::nullopt;
  if (values["block"] > 0 || values["kc"] > 0 || values["inner"] > 0 || values["grid"] > 0) {
    return "shares have no blocks";
  }
  if (enough_tiles(s, values.numbers("tile"), target)) return "shares where there are tiles enough";
  return std::nullopt;
}

schedule::Trace shared_reduction(const target::Target& target, const space::Values& values,
                                 const GemmParts& p) {
  TraceWriter t;
  const auto tile = values.numbers("tile");
  const std::int64_t lanes = p.shape.lanes;
  p.fused.place(t, target);
  t.split("anchor", "k", {ceil_div(p.shape.k, values["shares"])});
  t.rfactor("anchor", "k.0");
  t.split("output", p.j, {tile[1], lanes});
  const std::string place = p.j + ".0";
  schedule::Names lead{p.i, place};
  if (!p.b.empty()) lead.insert(lead.begin(), p.b);
  t.fuse("output", lead);
  p.fused.attach(t, target, fused_name(lead));
  t.compute_at("anchor", "output", fused_name(lead));
  t.split("anchor", "j", {lanes});
  t.reorder("anchor", {"k_0", "i", "j.0", "j.1"});
  t.registers("anchor");
  t.unroll("anchor", "j.0");
  t.vectorize("anchor", "j.1");
  place_shares(t, values, p);
  if (adds_in_parallel(p.shape, values["shares"], target)) t.parallel("output", fused_name(lead));
  t.unroll("output", p.j + ".1");
  t.vectorize("output", p.j + ".2");
  return t.take();
}

}  // namespace attune::templates
