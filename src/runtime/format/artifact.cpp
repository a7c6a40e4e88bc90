#include "runtime/format/artifact.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/atomic_file.h"
#include "runtime/format/artifact_file.h"
#include "runtime/format/artifact_format.h"
#include "runtime/format/plan_json.h"

namespace attune::runtime {
namespace {

using Bytes = std::span<const std::byte>;

// Weights up to this size are read and verified while loading, in about a tenth of a second:
// kernels read them faster in huge pages. Larger ones stay in the file and are verified as they are
// read.
constexpr std::uint64_t kEagerBytes = std::uint64_t{256} << 20;
// Plan, checksums and code, which are always held in memory.
constexpr std::uint64_t kMostFront = std::uint64_t{1} << 30;

// A number read as 0 has not been checked yet.
class ChunkGuard {
 public:
  ChunkGuard(Bytes weights, std::vector<std::uint64_t> sums)
      : weights_(weights), sums_(std::move(sums)), verified_(sums_.size()), left_(sums_.size()) {}

  // From any thread; two that meet at one chunk both check it.
  Status verify(std::uint64_t offset, std::uint64_t bytes) {
    if (bytes == 0 || left_.load(std::memory_order_acquire) == 0) return {};
    const std::uint64_t last = (offset + bytes - 1) / format::kChunkBytes;
    for (std::uint64_t i = offset / format::kChunkBytes; i <= last; ++i) {
      if (verified_[i].load(std::memory_order_acquire)) continue;
      const std::uint64_t begin = i * format::kChunkBytes;
      const Bytes chunk =
          weights_.subspan(begin, std::min(format::kChunkBytes, weights_.size() - begin));
      if (format::chunk_checksum(chunk, i) != sums_[i]) {
        return Error{ErrorCode::Corrupt,
                     "the artifact is damaged: the checksum of weight chunk " + std::to_string(i) +
                         " does not match",
                     "copy or compile it again"};
      }
      if (!verified_[i].exchange(true, std::memory_order_acq_rel)) {
        left_.fetch_sub(1, std::memory_order_acq_rel);
      }
    }
    return {};
  }

 private:
  Bytes weights_;
  std::vector<std::uint64_t> sums_;
  std::vector<std::atomic<bool>> verified_;
  std::atomic<std::size_t> left_;
};

Error damaged(const std::string& why) {
  return {ErrorCode::Corrupt, "the artifact is damaged: " + why, "copy or compile it again"};
}

// Of a file of so many bytes, by its first ones.
Result<format::Header> read_header(Bytes start, std::uint64_t file_bytes) {
  format::Header header;
  if (start.size() < header.magic.size() ||
      std::memcmp(start.data(), format::kMagic.data(), format::kMagic.size()) != 0) {
    return Error{ErrorCode::Corrupt, "it is not an Attune artifact",
                 "make one with 'attune compile MODEL -o FILE'"};
  }
  if (start.size() < sizeof header) {
    return damaged("it is cut short after " + std::to_string(start.size()) + " bytes");
  }
  std::memcpy(&header, start.data(), sizeof header);
  if (header.version > kSignedVersion) {
    return Error{ErrorCode::Unsupported,
                 "it has format version " + std::to_string(header.version) +
                     ", this runtime reads versions up to " + std::to_string(kSignedVersion),
                 "use a newer runtime, or compile the model again"};
  }
  if (header.version < kPlainVersion || header.sections != format::kSections ||
      header.checksum != format::header_checksum(header)) {
    return damaged("the checksum of its header does not match");
  }
  if (header.file_bytes != file_bytes) {
    return damaged("it has " + std::to_string(file_bytes) + " bytes and should have " +
                   std::to_string(header.file_bytes));
  }
  return header;
}

// The last section of a signed artifact, and what lies before it.
struct SignedParts {
  Bytes bytes = {};
  format::Signature signature = {};
};

Result<SignedParts> read_signature(Bytes file, const format::Header& header) {
  const format::Section& entry = header.signature;
  SignedParts parts;
  if (entry.bytes != sizeof parts.signature || entry.offset > file.size() ||
      file.size() - entry.offset != sizeof parts.signature) {
    return damaged("its signature lies outside of the file");
  }
  parts.bytes = file.first(entry.offset);
  std::memcpy(&parts.signature, file.data() + entry.offset, sizeof parts.signature);
  if (parts.signature.kind != 1 ||
      parts.signature.checksum != format::signature_checksum(parts.signature)) {
    return damaged("the checksum of its signature does not match");
  }
  return parts;
}

// All but the signature, as far as the caller wants to know whose it is.
Result<Bytes> verified(Bytes file, const format::Header& header, const VerifyBytes& verify) {
  if (header.version == kPlainVersion) {
    if (!verify) return file;
    return Error{ErrorCode::Corrupt, "it is not signed",
                 "ask for a signed one ('attune compile --sign KEY'), or trust it without"};
  }
  ATTUNE_ASSIGN(const SignedParts parts, read_signature(file, header));
  if (verify) ATTUNE_RETURN_IF_ERROR(verify(parts.bytes, parts.signature.bytes));
  return parts.bytes;
}

// The sections with the padding behind each; together they are all of the file behind the header.
Result<std::array<Bytes, format::kSections>> read_sections(Bytes file,
                                                           const format::Header& header) {
  std::array<Bytes, format::kSections> sections;
  std::uint64_t at = sizeof header;
  for (std::size_t i = 0; i < format::kSections; ++i) {
    const format::Section& entry = header.table[i];
    const bool last = i + 1 == format::kSections;
    const std::uint64_t end = last ? file.size() : header.table[i + 1].offset;
    const std::string name = std::string("section '") + format::kSectionNames[i] + "'";
    if (entry.offset != at || end < at || end > file.size() || entry.bytes > end - at ||
        entry.offset % format::kSectionAlignment != 0 || (last && entry.bytes != end - at)) {
      return damaged(name + " lies outside of the file");
    }
    sections[i] = file.subspan(at, end - at);
    if (!last && entry.checksum !=
                     format::section_checksum(sections[i], static_cast<format::SectionKind>(i))) {
      return damaged("the checksum of " + name + " does not match");
    }
    sections[i] = sections[i].first(entry.bytes);
    at = end;
  }
  if (header.table[format::kWeights].offset % format::kWeightAlignment != 0) {
    return damaged("the weights are not aligned to pages");
  }
  return sections;
}

Result<std::vector<Bytes>> read_objects(Bytes code) {
  std::uint64_t count = 0;
  if (code.size() < sizeof count) return damaged("its code is cut short");
  std::memcpy(&count, code.data(), sizeof count);
  if (count > (code.size() - sizeof count) / sizeof(format::CodeObject)) {
    return damaged("its code is cut short");
  }
  std::vector<Bytes> objects;
  for (std::uint64_t i = 0; i < count; ++i) {
    format::CodeObject entry;
    std::memcpy(&entry, code.data() + sizeof count + i * sizeof entry, sizeof entry);
    if (entry.offset > code.size() || entry.bytes > code.size() - entry.offset) {
      return damaged("code object " + std::to_string(i) + " lies outside of its section");
    }
    objects.push_back(code.subspan(entry.offset, entry.bytes));
  }
  return objects;
}

Result<std::vector<std::uint64_t>> read_chunk_sums(Bytes section, std::uint64_t weight_bytes) {
  std::vector<std::uint64_t> sums(section.size() / sizeof(std::uint64_t));
  if (sums.size() != format::chunk_count(weight_bytes) || section.size() % sizeof(sums[0]) != 0) {
    return damaged("it has " + std::to_string(sums.size()) + " checksums for " +
                   std::to_string(weight_bytes) + " bytes of weights");
  }
  if (!sums.empty()) std::memcpy(sums.data(), section.data(), section.size());
  return sums;
}

Error with_path(const std::string& path, const Error& error) {
  return {error.code, "cannot load '" + path + "': " + error.message, error.hint};
}

}  // namespace

struct Artifact::State {
  ArtifactFile stored;
  Memory memory;
  Bytes file;
  Plan plan;
  const DeviceKind* device = nullptr;
  std::vector<Bytes> objects;
  Bytes weights;
  std::unique_ptr<ChunkGuard> guard;

  Status load(bool all);
  Status read(DeviceKinds kinds, const VerifyBytes& verify) {
    ATTUNE_ASSIGN(const format::Header header, read_header(file, file.size()));
    ATTUNE_ASSIGN(const Bytes contents, verified(file, header, verify));
    ATTUNE_ASSIGN(const auto sections, read_sections(contents, header));
    const Bytes graph = sections[format::kGraph];
    ATTUNE_ASSIGN(plan,
                  plan_from_json({reinterpret_cast<const char*>(graph.data()), graph.size()}));
    ATTUNE_ASSIGN(objects, read_objects(sections[format::kCode]));
    ATTUNE_ASSIGN(device, find_device(kinds, plan.device));
    ATTUNE_RETURN_IF_ERROR(device->check(plan, objects));
    weights = sections[format::kWeights];
    ATTUNE_RETURN_IF_ERROR(
        validate(plan, {.weight_bytes = static_cast<std::int64_t>(weights.size()),
                        .objects = static_cast<std::int32_t>(objects.size())}));
    ATTUNE_ASSIGN(auto sums, read_chunk_sums(sections[format::kChunks], weights.size()));
    guard = std::make_unique<ChunkGuard>(weights, std::move(sums));
    return weights.size() <= kEagerBytes ? guard->verify(0, weights.size()) : Status();
  }
};

Artifact::Artifact(std::unique_ptr<State> state) : state_(std::move(state)) {}
Artifact::Artifact(Artifact&&) noexcept = default;
Artifact& Artifact::operator=(Artifact&&) noexcept = default;
Artifact::~Artifact() = default;

// Brings the file into memory, but for large weights.
Status Artifact::State::load(bool all) {
  std::array<std::byte, sizeof(format::Header)> start = {};
  const auto first = std::span(start).first(std::min(stored.file_bytes(), sizeof start));
  ATTUNE_RETURN_IF_ERROR(stored.read(0, first));
  ATTUNE_ASSIGN(const format::Header header, read_header(first, stored.file_bytes()));
  const format::Section& entry = header.table[format::kWeights];
  if (entry.offset > stored.file_bytes() || entry.bytes > stored.file_bytes() - entry.offset) {
    return damaged("section 'weights' lies outside of the file");
  }
  if (stored.file_bytes() - entry.bytes > kMostFront) {
    return damaged("its plan and code have more than " + std::to_string(kMostFront) + " bytes");
  }
  const bool mapped = entry.bytes > kEagerBytes && !all;
  ATTUNE_RETURN_IF_ERROR(stored.load(mapped ? FileRange{entry.offset, entry.bytes} : FileRange{}));
  file = stored.bytes();
  return {};
}

Result<Artifact> Artifact::open(const std::string& path, DeviceKinds kinds,
                                const VerifyBytes& verify) {
  auto state = std::make_unique<State>();
  ATTUNE_ASSIGN(state->stored, ArtifactFile::open(path));
  Status read = state->load(static_cast<bool>(verify));
  if (read.ok()) read = state->read(kinds, verify);
  if (!read.ok()) return with_path(path, read.error());
  return Artifact(std::move(state));
}

Result<Artifact> Artifact::from_memory(Memory bytes, const std::string& name, DeviceKinds kinds) {
  auto state = std::make_unique<State>();
  state->memory = std::move(bytes);
  state->file = {static_cast<const std::byte*>(state->memory.data()), state->memory.bytes()};
  if (const Status read = state->read(kinds, {}); !read.ok()) return with_path(name, read.error());
  return Artifact(std::move(state));
}

const Plan& Artifact::plan() const { return state_->plan; }
const DeviceKind& Artifact::device() const { return *state_->device; }
std::int64_t Artifact::file_bytes() const { return static_cast<std::int64_t>(state_->file.size()); }
std::span<const std::byte> Artifact::weights() const { return state_->weights; }
std::span<const std::span<const std::byte>> Artifact::objects() const { return state_->objects; }

Status Artifact::check_unchanged() const { return state_->stored.check_unchanged(); }

Status Artifact::verify_weights(std::int64_t offset, std::int64_t bytes) const {
  CHECK(offset >= 0 && bytes >= 0 && offset <= std::ssize(state_->weights) &&
            bytes <= std::ssize(state_->weights) - offset,
        "weights to verify lie outside of the artifact");
  return state_->guard->verify(static_cast<std::uint64_t>(offset),
                               static_cast<std::uint64_t>(bytes));
}

Status Artifact::verify_all_weights() const { return verify_weights(0, std::ssize(weights())); }

Status sign_artifact(const std::string& path, const SignBytes& sign) {
  ATTUNE_ASSIGN(ArtifactFile stored, ArtifactFile::open(path));
  ATTUNE_RETURN_IF_ERROR(stored.load({}));
  const Bytes file = stored.bytes();
  const auto check = [&]() -> Status {
    ATTUNE_ASSIGN(const format::Header header, read_header(file, file.size()));
    ATTUNE_ASSIGN(const Bytes contents, verified(file, header, {}));
    const auto sections = read_sections(contents, header);
    return sections.ok() ? Status() : sections.error();
  };
  if (const Status checked = check(); !checked.ok()) return with_path(path, checked.error());
  ATTUNE_ASSIGN(const Memory bytes, signed_bytes(file, sign));
  return write_file_atomically(path, {static_cast<const char*>(bytes.data()), bytes.bytes()});
}

bool looks_like_artifact(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char start[format::kMagic.size()] = {};
  return file.read(start, sizeof start) &&
         std::memcmp(start, format::kMagic.data(), sizeof start) == 0;
}

}  // namespace attune::runtime
