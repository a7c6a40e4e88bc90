// NVIDIA's run-time compiler, opened when it is first needed: $ATTUNE_NVRTC, or libnvrtc where the
// system or a CUDA toolkit has it. From any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace attune::cuda {

struct Compiled {
  std::vector<std::byte> cubin;
  std::string ptx;
  std::string log;  // of the compiler and of ptxas
};

class Nvrtc {
 public:
  // The library that is found first; an error says that there is none.
  static Result<Nvrtc> open(const std::vector<std::string>& paths);
  // Opened once, for all.
  static const Result<Nvrtc>& here();

  // "13.0".
  const std::string& version() const { return version_; }
  // Text of kernels, for an architecture such as "sm_90a".
  Result<Compiled> compile(const std::string& text, const std::string& architecture) const;

 private:
  struct Functions;

  Nvrtc() = default;

  std::shared_ptr<const Functions> functions_;
  std::string version_;
};

}  // namespace attune::cuda
