#include "compiler/schedule/read_ranges.h"

#include <algorithm>
#include <cstdlib>

#include "compiler/ir/nodes/rewrite.h"

namespace attune::schedule {
namespace {

void add_term(Range& range, int axis, std::int64_t coefficient) {
  auto at = range.terms.begin();
  while (at != range.terms.end() && at->first < axis) ++at;
  if (at == range.terms.end() || at->first != axis) {
    range.terms.insert(at, {axis, coefficient});
  } else if ((at->second += coefficient) == 0) {
    range.terms.erase(at);
  }
}

// An index as a range, if it is linear in variables: `moving` ones run, the others stand still.
std::optional<Range> range_of(const ir::Expr& index, const ir::Ranges& ranges,
                              const std::map<std::string, std::int64_t>& moving) {
  const auto form = ir::linear_of(ir::simplify(index, ranges));
  if (!form) return {};
  Range range{{}, {{}, form->constant}, 1};
  for (const auto& [name, coefficient] : form->terms) {
    const auto found = moving.find(name);
    if (found == moving.end()) {
      range.offset.terms.emplace_back(name, coefficient);
      continue;
    }
    const std::int64_t moves = (found->second - 1) * coefficient;
    range.extent += std::abs(moves);
    if (moves < 0) range.offset.constant += moves;
  }
  return range;
}

}  // namespace

Range image(const AccessDim& dim, const Region& reader) {
  Range range{{}, {{}, dim.constant}, 1};
  for (const auto& [axis, coefficient] : dim.terms) {
    const Range& from = reader[static_cast<std::size_t>(axis)];
    const std::int64_t moves = from.extent - 1;
    range.extent += moves * std::abs(coefficient);
    if (from.offset.terms.empty()) {
      range.offset.constant += from.offset.constant * coefficient;
    } else {
      range.offset = ir::add(range.offset, from.offset, coefficient);
    }
    if (coefficient < 0) range.offset.constant += moves * coefficient;
    for (const auto& [host, factor] : from.terms) add_term(range, host, factor * coefficient);
  }
  return range;
}

bool joins_fused(const StageState& stage, const AccessDim& dim) {
  if (!dim.linear || dim.terms.size() < 2) return false;
  for (const Relation& relation : stage.relations) {
    const auto* fuse = std::get_if<FuseRelation>(&relation);
    if (!fuse) continue;
    const auto joined = [&](const auto& term) {
      return std::find(fuse->parents.begin(), fuse->parents.end(), term.first) !=
             fuse->parents.end();
    };
    if (std::all_of(dim.terms.begin(), dim.terms.end(), joined)) return true;
  }
  return false;
}

std::optional<AccessDim> fused_loop(const StageState& stage, const AccessDim& dim) {
  if (!stage.at_root()) return {};
  for (const Relation& relation : stage.relations) {
    const auto* fuse = std::get_if<FuseRelation>(&relation);
    if (!fuse) continue;
    // The index counts iterations when every axis moves it by as many as those inside of it have.
    std::int64_t radix = 1;
    std::size_t found = 0;
    bool counts = true;
    for (auto parent = fuse->parents.rbegin(); parent != fuse->parents.rend(); ++parent) {
      const auto at = static_cast<std::size_t>(*parent);
      if (at >= stage.stage.axes.size()) return {};
      const auto term = std::find_if(dim.terms.begin(), dim.terms.end(),
                                     [&](const auto& t) { return t.first == *parent; });
      found += term != dim.terms.end();
      const std::int64_t extent = stage.stage.axes[at].extent;
      counts &= extent == 1 || (term != dim.terms.end() && term->second == radix);
      radix *= extent;
    }
    if (!counts || found != dim.terms.size()) continue;
    AccessDim loop = dim;
    loop.terms = {{fuse->child, 1}};
    return loop;
  }
  return {};
}

ir::Expr to_expr(const AccessDim& dim, const ir::Stage& reader) {
  ir::Expr sum = dim.constant;
  for (const auto& [at, coefficient] : dim.terms) {
    const auto i = static_cast<std::size_t>(at);
    const std::size_t axes = reader.axes.size();
    const ir::Axis& axis = i < axes ? reader.axes[i] : reader.reduce_axes[i - axes];
    sum = sum + ir::axis_var(axis) * ir::Expr(coefficient);
  }
  return sum;
}

ir::Expr begin_of(const Range& range, const std::vector<ir::Expr>& host) {
  ir::Expr sum = range.offset.to_expr();
  for (const auto& [axis, coefficient] : range.terms) {
    sum = sum + host[static_cast<std::size_t>(axis)] * ir::Expr(coefficient);
  }
  return sum;
}

GeneralReader::GeneralReader(const ir::Stage& stage, const Region& reader, const HostValues& host)
    : ranges_(host.ranges) {
  const std::size_t axes = stage.axes.size() + stage.reduce_axes.size();
  for (std::size_t i = 0; i < std::min(axes, reader.size()); ++i) {
    const bool reduce = i >= stage.axes.size();
    const ir::Axis& axis = reduce ? stage.reduce_axes[i - stage.axes.size()] : stage.axes[i];
    ir::Expr value = begin_of(reader[i], host.begin);
    if (reader[i].extent > 1) {
      const std::string name = "%" + axis.name;
      moving_[name] = reader[i].extent;
      ranges_ = ranges_.with(name, ir::Interval::extent(reader[i].extent));
      value = value + ir::var(name);
    }
    bindings_[axis.name] = value;
  }
}

std::optional<Range> GeneralReader::image(const ir::Expr& index) const {
  return range_of(ir::substitute(index, bindings_), ranges_, moving_);
}

std::optional<Range> host_image(const ir::Expr& index, const ir::Stage& stage,
                                const HostValues& host) {
  ir::Bindings bindings;
  for (std::size_t i = 0; i < host.axes.size(); ++i) {
    const bool reduce = i >= stage.axes.size();
    const ir::Axis& axis = reduce ? stage.reduce_axes[i - stage.axes.size()] : stage.axes[i];
    bindings[axis.name] = host.axes[i];
  }
  return range_of(ir::substitute(index, bindings), host.ranges, host.moving);
}

}  // namespace attune::schedule
