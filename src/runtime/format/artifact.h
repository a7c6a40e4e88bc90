// The artifact: one file with all that running a compiled model takes: the plan and interface as
// JSON, the kernels as code that a device loads, and the weights, which are used right where the
// file is mapped. Every byte of the file, padding included, is covered by a checksum; those of
// large weights are checked piece by piece when they are first read. The layout is in docs/adr.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/execution/device.h"
#include "runtime/format/plan.h"
#include "runtime/memory/memory.h"

namespace attune::runtime {

inline constexpr std::uint32_t kArtifactVersion = 1;

// A constant and where in the weights it lies (a multiple of 64). Gaps between pieces are zero.
struct WeightPiece {
  std::int64_t offset = 0;
  std::span<const std::byte> bytes;
};

struct ArtifactContents {
  const Plan& plan;
  std::vector<WeightPiece> weights;                 // ascending, not overlapping
  std::vector<std::span<const std::byte>> objects;  // code, as Kernel::object counts
};

// Writes beside the path and renames; on an error what was there before is unchanged. The plan is
// validated first: a plan that validate() refuses is a mistake of the compiler.
Status write_artifact(const std::string& path, const ArtifactContents& contents);
// The same bytes in memory.
Result<Memory> artifact_bytes(const ArtifactContents& contents);

// Whether a file begins like an artifact (of any version).
bool looks_like_artifact(const std::string& path);

class Artifact {
 public:
  // Maps and checks: header, checksums, plan, and whether its device, one of `kinds`, can run it.
  static Result<Artifact> open(const std::string& path, DeviceKinds kinds = devices());
  // The same for bytes in memory; `name` stands for the path in messages.
  static Result<Artifact> from_memory(Memory bytes, const std::string& name,
                                      DeviceKinds kinds = devices());

  Artifact(Artifact&&) noexcept;
  Artifact& operator=(Artifact&&) noexcept;
  ~Artifact();

  const Plan& plan() const;
  const DeviceKind& device() const;
  std::int64_t file_bytes() const;
  std::span<const std::byte> weights() const;
  std::span<const std::span<const std::byte>> objects() const;

  // Checks the weights in [offset, offset + bytes) unless that was done before; from any thread. To
  // be called before weights are read.
  Status verify_weights(std::int64_t offset, std::int64_t bytes) const;
  Status verify_all_weights() const;

 private:
  struct State;
  explicit Artifact(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace attune::runtime
