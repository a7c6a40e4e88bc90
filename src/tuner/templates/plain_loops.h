// Loops for stages of any shape: what the fallback template is made of.
#pragma once

#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/target/target.h"
#include "tuner/space/knob.h"
#include "tuner/templates/trace_writer.h"

namespace attune::templates {

// What may be chosen about such loops.
struct LoopStyle {
  std::int64_t unroll;           // vectors written out
  bool parallel = true;          // between the threads
  std::int64_t cache_tile = 16;  // rows of a transposition that are taken together
  // Of the loops over vectors and over those rows (0 1: the rows are the inner ones), and what is
  // done with the loops over the vectors of a tile and over their lanes; must outlive the style.
  std::span<const std::int64_t> tile_order = kRowsInside;
  std::span<const std::int64_t> vector_loops = kInVectors;

  LoopStyle(std::int64_t vectors) : unroll(vectors) {}

 private:
  static constexpr std::int64_t kRowsInside[] = {0, 1};
  static constexpr std::int64_t kInVectors[] = {
      static_cast<std::int64_t>(space::Annotation::Unroll),
      static_cast<std::int64_t>(space::Annotation::Vectorize)};
};

// How the innermost loops of a stage run over its axes.
struct VectorLoops {
  std::size_t outer = 0;     // axes before the vector's
  schedule::Names vector;    // axes that the vector runs along, fused when there are several
  std::int64_t extent = 1;   // of them together
  std::int64_t lanes = 1;    // of one vector
  std::int64_t vectors = 1;  // written out
};

// The longest tail of axes that all loads walk through contiguously, or not at all; the last axis
// alone when others must find it.
enum class Tail { Fused, LastAxis };
VectorLoops vector_loops(const ir::Stage& stage, const target::Target& target, std::int64_t unroll,
                         Tail tail);

// Whether loads jump through memory along the vector; and whether they walk it along another axis,
// so that `cache_tile` rows are taken together.
struct Jumps {
  bool any = false, across_rows = false;
};
Jumps jumps_of(const ir::Stage& stage, const target::Target& target, std::int64_t cache_tile);

// A stage without reduction over its whole region: in vectors along its last axes, all outside of
// that in parallel. Returns the loop over tiles of vectors, empty without one.
std::string run_in_vectors(TraceWriter& t, const ir::Stage& stage, const target::Target& target,
                           const LoopStyle& style, Tail tail = Tail::Fused);

// A reduction over any axes, computed by itself: in vectors along the last axis, along the lanes of
// blocked operands, or along what is reduced.
void run_reduction(TraceWriter& t, const ir::Stage& stage, const target::Target& target,
                   const LoopStyle& style);
// Whether a reduction runs in vectors along its last axis.
bool vectorizes_over_axes(const ir::Stage& stage, const target::Target& target);
// One that is computed at the loop over tiles of `host`, a stage with the same extents that runs in
// vectors along its last axis.
void run_reduction_at(TraceWriter& t, const ir::Stage& stage, const ir::Stage& host,
                      const std::string& loop, const target::Target& target);

// The loop that fuse() makes of several: "n*oc".
std::string fused_name(const schedule::Names& loops);

}  // namespace attune::templates
