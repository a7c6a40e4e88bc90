// Running a whole model once.
#pragma once

#include "app/api/run.h"

namespace attune::api {

// An artifact, an ONNX file or a name of the zoo; the last two are compiled in memory.
Result<RunReport> run_graph(const RunOptions& options);

}  // namespace attune::api
