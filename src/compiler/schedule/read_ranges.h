// Which values of an axis reads touch while the loops inside of some loop, the host's, run: regions
// of stages that are computed there are made of such ranges.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/linear.h"
#include "compiler/ir/simplify/simplify.h"
#include "compiler/schedule/state.h"

namespace attune::schedule {

// Consecutive values of one axis: they begin at `offset` (a form over loop variables) + sum of
// coefficient * (where the host's axis begins), and are `extent` many.
struct Range {
  std::vector<std::pair<int, std::int64_t>> terms;  // sorted by host axis
  ir::Linear offset;
  std::int64_t extent = 1;
};
// What is needed of one stage during one iteration of the host loop, one range per axis and reduce
// axis; empty when nothing is.
using Region = std::vector<Range>;

// The host as expressions: where its axes begin, and the ranges of all loop variables in there.
// Only made when an index is not linear.
struct HostValues {
  std::vector<ir::Expr> begin;
  ir::Ranges ranges;
  // Its axes by all of its loops, and the extents of those that run during one iteration.
  std::vector<ir::Expr> axes;
  std::map<std::string, std::int64_t> moving;
};

// Where a range begins, given where the host's axes do.
ir::Expr begin_of(const Range& range, const std::vector<ir::Expr>& host);

// The values that one dimension of a read takes over the reader's region.
Range image(const AccessDim& dim, const Region& reader);
// Whether an index adds up axes that are one loop now, as in oh * 56 + ow after oh and ow were
// fused: it moves by less than its axes, each by itself, would make it.
bool joins_fused(const StageState& stage, const AccessDim& dim);
// Where that is the loop itself, for a stage at root: the dimension in terms of this loop (an
// iter).
std::optional<AccessDim> fused_loop(const StageState& stage, const AccessDim& dim);
// The index of a linear dimension, by the names of the reader's axes.
ir::Expr to_expr(const AccessDim& dim, const ir::Stage& reader);
// The same for an index that is not linear: with the reader's axes written as begin + variable it
// often simplifies to something that is ((o*4 + v) / 4 = o for v < 4).
class GeneralReader {
 public:
  GeneralReader(const ir::Stage& stage, const Region& reader, const HostValues& host);
  std::optional<Range> image(const ir::Expr& index) const;

 private:
  ir::Bindings bindings_;
  ir::Ranges ranges_;
  std::map<std::string, std::int64_t> moving_;
};
// The same for a read by the host itself, by its loops: finer where one axis has several that run
// ((h*64 + t*8 + l) % 64 = t*8 + l for l < 8, whatever h is).
std::optional<Range> host_image(const ir::Expr& index, const ir::Stage& stage,
                                const HostValues& host);

}  // namespace attune::schedule
