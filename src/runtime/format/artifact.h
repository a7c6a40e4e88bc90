// The artifact: one file with all that running a compiled model takes: the plan and interface as
// JSON, the kernels as code that a device loads, and the weights, which are used right where the
// file is read or mapped to. Every byte of the file, padding included, is covered by a checksum;
// those of large weights are checked piece by piece when they are first read. A checksum finds
// damage; who made a file, only a signature tells. The layout is in docs/adr.
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
#include "runtime/format/signature.h"
#include "runtime/memory/memory.h"

namespace attune::runtime {

// Of artifacts without a signature, and of those with one.
inline constexpr std::uint32_t kPlainVersion = 1;
inline constexpr std::uint32_t kSignedVersion = 2;

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
// validated first: a plan that validate() refuses is a mistake of the compiler. Signed if `sign` is
// given; then all of it passes through memory.
Status write_artifact(const std::string& path, const ArtifactContents& contents,
                      const SignBytes& sign = {});
// The same bytes in memory.
Result<Memory> artifact_bytes(const ArtifactContents& contents);
// The same artifact with a signature, instead of the one that it may have.
Result<Memory> signed_bytes(std::span<const std::byte> artifact, const SignBytes& sign);
// Replaces the file by itself with a signature.
Status sign_artifact(const std::string& path, const SignBytes& sign);

// Whether a file begins like an artifact (of any version).
bool looks_like_artifact(const std::string& path);

class Artifact {
 public:
  // Reads and checks: header, checksums, plan, and whether its device, one of `kinds`, can run it.
  // With `verify` an artifact that is not signed or does not pass is refused before anything else
  // of it is looked at, and what was verified is what is used: nothing stays in the file.
  static Result<Artifact> open(const std::string& path, DeviceKinds kinds = devices(),
                               const VerifyBytes& verify = {});
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

  // An error when the file of mapped weights was changed since; to be asked before and after each
  // use of them: what was cut off reads as zeros.
  Status check_unchanged() const;
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
