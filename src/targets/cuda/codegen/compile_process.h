// NVRTC in processes of their own. It starts CUDA in whoever calls it, and from then on no fork of
// that process can use a card; and it may crash or take for ever. The processes are forks of this
// one, kept for the next kernel, and end when this one does.
#pragma once

#include <string>

#include "base/result.h"
#include "targets/cuda/codegen/nvrtc.h"

namespace attune::cuda {

// As Nvrtc::compile does it. From any thread; there are as many processes as calls at once.
Result<Compiled> compile_apart(const Nvrtc& nvrtc, const std::string& text,
                               const std::string& architecture);

}  // namespace attune::cuda
