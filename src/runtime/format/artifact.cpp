#include "runtime/format/artifact.h"

#include <atomic>
#include <cstring>
#include <fstream>
#include <utility>

#include "runtime/format/artifact_format.h"
#include "runtime/format/file_mapping.h"
#include "runtime/format/plan_json.h"

namespace attune::runtime {
namespace {

using Bytes = std::span<const std::byte>;

// Weights up to this size are verified while loading, larger ones as they are read.
constexpr std::uint64_t kEagerBytes = std::uint64_t{64} << 20;

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

Result<format::Header> read_header(Bytes file) {
  format::Header header;
  if (file.size() < header.magic.size() ||
      std::memcmp(file.data(), format::kMagic.data(), format::kMagic.size()) != 0) {
    return Error{ErrorCode::Corrupt, "it is not an Attune artifact",
                 "make one with 'attune compile MODEL -o FILE'"};
  }
  if (file.size() < sizeof header) {
    return damaged("it is cut short after " + std::to_string(file.size()) + " bytes");
  }
  std::memcpy(&header, file.data(), sizeof header);
  if (header.version > kArtifactVersion) {
    return Error{ErrorCode::Unsupported,
                 "it has format version " + std::to_string(header.version) +
                     ", this runtime reads version " + std::to_string(kArtifactVersion),
                 "use a newer runtime, or compile the model again"};
  }
  if (header.version != kArtifactVersion || header.sections != format::kSections ||
      header.checksum != format::header_checksum(header)) {
    return damaged("the checksum of its header does not match");
  }
  if (header.file_bytes != file.size()) {
    return damaged("it has " + std::to_string(file.size()) + " bytes and should have " +
                   std::to_string(header.file_bytes));
  }
  return header;
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
  FileMapping mapping;
  Memory memory;
  Bytes file;
  Plan plan;
  const DeviceKind* device = nullptr;
  std::vector<Bytes> objects;
  Bytes weights;
  std::unique_ptr<ChunkGuard> guard;

  Status read(DeviceKinds kinds) {
    ATTUNE_ASSIGN(const format::Header header, read_header(file));
    ATTUNE_ASSIGN(const auto sections, read_sections(file, header));
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

Result<Artifact> Artifact::open(const std::string& path, DeviceKinds kinds) {
  auto state = std::make_unique<State>();
  ATTUNE_ASSIGN(state->mapping, FileMapping::open(path));
  state->file = state->mapping.bytes();
  if (const Status read = state->read(kinds); !read.ok()) return with_path(path, read.error());
  return Artifact(std::move(state));
}

Result<Artifact> Artifact::from_memory(Memory bytes, const std::string& name, DeviceKinds kinds) {
  auto state = std::make_unique<State>();
  state->memory = std::move(bytes);
  state->file = {static_cast<const std::byte*>(state->memory.data()), state->memory.bytes()};
  if (const Status read = state->read(kinds); !read.ok()) return with_path(name, read.error());
  return Artifact(std::move(state));
}

const Plan& Artifact::plan() const { return state_->plan; }
const DeviceKind& Artifact::device() const { return *state_->device; }
std::int64_t Artifact::file_bytes() const { return static_cast<std::int64_t>(state_->file.size()); }
std::span<const std::byte> Artifact::weights() const { return state_->weights; }
std::span<const std::span<const std::byte>> Artifact::objects() const { return state_->objects; }

Status Artifact::verify_weights(std::int64_t offset, std::int64_t bytes) const {
  CHECK(offset >= 0 && bytes >= 0 && offset <= std::ssize(state_->weights) &&
            bytes <= std::ssize(state_->weights) - offset,
        "weights to verify lie outside of the artifact");
  return state_->guard->verify(static_cast<std::uint64_t>(offset),
                               static_cast<std::uint64_t>(bytes));
}

Status Artifact::verify_all_weights() const { return verify_weights(0, std::ssize(weights())); }

bool looks_like_artifact(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char start[format::kMagic.size()] = {};
  return file.read(start, sizeof start) &&
         std::memcmp(start, format::kMagic.data(), sizeof start) == 0;
}

}  // namespace attune::runtime
