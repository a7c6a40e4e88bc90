// Runs a scheduled program on random inputs and compares it with the interpreter, the reference:
// as lowered loops or launches in the interpreter, as machine code, as machine code of another
// architecture, or on a device.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "compiler/ir/nodes/array.h"
#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/schedule/trace.h"
#include "compiler/target/target.h"

namespace attune::test {

// A program's random inputs and the outputs that the interpreter computes from them.
struct Reference {
  std::vector<ir::Array> inputs;
  std::vector<ir::Array> outputs;
};
// Where random inputs come from: floats and integers, ends included.
struct InputRange {
  double low = -1, high = 1;
  std::int64_t least = -8, most = 7;
};
Result<Reference> make_reference(const ir::Program& program, std::uint64_t seed,
                                 InputRange range = {});

// Interpreted and Launched: lowered for a processor, or for blocks and threads, and run by the
// interpreter of such kernels. Compiled: lowered as the target wants it, and run as code on the
// device that it describes.
enum class Way { Interpreted, Compiled, Emulated, Launched };

// Replays the trace on `program`, which may be another algorithm than the reference's, lowers it,
// runs it and compares. `tolerance` is a fraction of the largest magnitude of the result. The error
// names step, pass or element.
Status check_trace(const ir::Program& program, const schedule::Trace& trace,
                   const target::Target& target, const Reference& reference, double tolerance,
                   Way way);

}  // namespace attune::test
