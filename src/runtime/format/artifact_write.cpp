// Writing is one pass for the checksums and one for the bytes; the weights are only ever looked at
// where they are, one chunk at a time.
#include <algorithm>
#include <cstring>
#include <functional>

#include "base/atomic_file.h"
#include "runtime/format/artifact.h"
#include "runtime/format/artifact_format.h"
#include "runtime/format/plan_json.h"

namespace attune::runtime {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::string_view text) {
  Bytes bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

template <typename T>
void append(Bytes& bytes, const T* values, std::size_t count) {
  const auto source = std::as_bytes(std::span(values, count));
  bytes.insert(bytes.end(), source.begin(), source.end());
}

Bytes code_section(const std::vector<std::span<const std::byte>>& objects) {
  Bytes bytes;
  const std::uint64_t count = objects.size();
  append(bytes, &count, 1);
  std::uint64_t at = sizeof count + count * sizeof(format::CodeObject);
  for (const auto& object : objects) {
    at = format::align_up(at, format::kSectionAlignment);
    const format::CodeObject entry{at, object.size()};
    append(bytes, &entry, 1);
    at += object.size();
  }
  for (const auto& object : objects) {
    bytes.resize(format::align_up(bytes.size(), format::kSectionAlignment));
    append(bytes, object.data(), object.size());
  }
  return bytes;
}

// The weights as the file has them: pieces with zeros between, cut into chunks.
class Weights {
 public:
  explicit Weights(const std::vector<WeightPiece>& pieces) : pieces_(pieces) {
    std::uint64_t end = 0;
    for (const WeightPiece& piece : pieces) {
      const auto offset = static_cast<std::uint64_t>(piece.offset);
      CHECK(piece.offset >= 0 && piece.offset % static_cast<std::int64_t>(kAlignment) == 0,
            "a constant is not aligned to 64 bytes");
      CHECK(offset >= end, "constants overlap or are out of order");
      end = offset + piece.bytes.size();
    }
    bytes_ = format::align_up(end, format::kSectionAlignment);
  }

  std::uint64_t bytes() const { return bytes_; }

  // Calls visit(chunk, index) for each chunk in order, until one fails.
  template <typename Visit>
  Status each_chunk(Visit visit) const {
    Bytes assembled;
    std::size_t next = 0;  // the first piece that may reach into the chunk
    for (std::uint64_t index = 0; index < format::chunk_count(bytes_); ++index) {
      const std::uint64_t begin = index * format::kChunkBytes;
      const std::uint64_t end = std::min(begin + format::kChunkBytes, bytes_);
      assembled.assign(end - begin, std::byte{0});
      while (next < pieces_.size() && end_of(next) <= begin) ++next;
      for (std::size_t i = next; i < pieces_.size() && begin_of(i) < end; ++i) {
        const std::uint64_t from = std::max(begin, begin_of(i));
        const std::uint64_t to = std::min(end, end_of(i));
        if (to > from) {
          std::memcpy(assembled.data() + (from - begin),
                      pieces_[i].bytes.data() + from - begin_of(i), to - from);
        }
      }
      ATTUNE_RETURN_IF_ERROR(visit(std::span<const std::byte>(assembled), index));
    }
    return {};
  }

 private:
  std::uint64_t begin_of(std::size_t i) const {
    return static_cast<std::uint64_t>(pieces_[i].offset);
  }
  std::uint64_t end_of(std::size_t i) const { return begin_of(i) + pieces_[i].bytes.size(); }

  const std::vector<WeightPiece>& pieces_;
  std::uint64_t bytes_ = 0;
};

struct Layout {
  format::Header header;
  std::array<Bytes, format::kSections> sections;  // padded; that of the weights stays empty
};

Layout lay_out(const ArtifactContents& contents, const Weights& weights) {
  Layout layout;
  layout.sections[format::kGraph] = bytes_of(plan_to_json(contents.plan));
  layout.sections[format::kCode] = code_section(contents.objects);
  const Status hashed = weights.each_chunk([&](std::span<const std::byte> chunk, auto index) {
    const std::uint64_t sum = format::chunk_checksum(chunk, index);
    append(layout.sections[format::kChunks], &sum, 1);
    return Status();
  });
  CHECK(hashed.ok(), "computing checksums cannot fail");
  format::Header& header = layout.header;
  header.version = kPlainVersion;
  std::uint64_t at = sizeof header;
  for (std::size_t i = 0; i < format::kSections; ++i) {
    const bool last = i == format::kWeights;
    Bytes& section = layout.sections[i];
    header.table[i].offset = at;
    header.table[i].bytes = last ? weights.bytes() : section.size();
    at += header.table[i].bytes;
    if (last) break;
    at = format::align_up(
        at, i + 1 == format::kWeights ? format::kWeightAlignment : format::kSectionAlignment);
    section.resize(at - header.table[i].offset);
    header.table[i].checksum =
        format::section_checksum(section, static_cast<format::SectionKind>(i));
  }
  header.file_bytes = at;
  header.checksum = format::header_checksum(header);
  return layout;
}

using Sink = std::function<Status(std::span<const std::byte>)>;

Status write_to(const ArtifactContents& contents, const std::function<Status(std::uint64_t)>& begin,
                const Sink& sink) {
  const Weights weights(contents.weights);
  ATTUNE_RETURN_IF_ERROR(
      validate(contents.plan, {.weight_bytes = static_cast<std::int64_t>(weights.bytes()),
                               .objects = static_cast<std::int32_t>(contents.objects.size())}));
  const Layout layout = lay_out(contents, weights);
  ATTUNE_RETURN_IF_ERROR(begin(layout.header.file_bytes));
  ATTUNE_RETURN_IF_ERROR(sink(std::as_bytes(std::span(&layout.header, 1))));
  for (const Bytes& section : layout.sections) ATTUNE_RETURN_IF_ERROR(sink(section));
  return weights.each_chunk(
      [&](std::span<const std::byte> chunk, std::uint64_t) { return sink(chunk); });
}

}  // namespace

Status write_artifact(const std::string& path, const ArtifactContents& contents,
                      const SignBytes& sign) {
  if (sign) {
    ATTUNE_ASSIGN(const Memory plain, artifact_bytes(contents));
    ATTUNE_ASSIGN(const Memory bytes,
                  signed_bytes({static_cast<const std::byte*>(plain.data()), plain.bytes()}, sign));
    return write_file_atomically(path, {static_cast<const char*>(bytes.data()), bytes.bytes()});
  }
  ATTUNE_ASSIGN(AtomicFile file, AtomicFile::create(path));
  ATTUNE_RETURN_IF_ERROR(write_to(
      contents, [](std::uint64_t) { return Status(); },
      [&](std::span<const std::byte> bytes) {
        return file.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      }));
  return file.commit();
}

Result<Memory> signed_bytes(std::span<const std::byte> artifact, const SignBytes& sign) {
  format::Header header;
  CHECK(artifact.size() >= sizeof header, "what is signed is no artifact");
  std::memcpy(&header, artifact.data(), sizeof header);
  const format::Section& weights = header.table[format::kWeights];
  const std::uint64_t end = weights.offset + weights.bytes;
  CHECK(end >= sizeof header && end <= artifact.size() && end % format::kSectionAlignment == 0,
        "what is signed is no artifact");
  header.version = kSignedVersion;
  header.signature = {.offset = end, .bytes = sizeof(format::Signature), .checksum = 0};
  header.file_bytes = end + sizeof(format::Signature);
  header.checksum = format::header_checksum(header);
  ATTUNE_ASSIGN(Memory memory, Memory::allocate(header.file_bytes));
  auto* bytes = static_cast<std::byte*>(memory.data());
  std::memcpy(bytes, &header, sizeof header);
  std::memcpy(bytes + sizeof header, artifact.data() + sizeof header, end - sizeof header);
  format::Signature signature;
  ATTUNE_ASSIGN(const std::vector<std::byte> made, sign({bytes, end}));
  CHECK(made.size() == signature.bytes.size(), "a signature has another size than signatures have");
  std::copy(made.begin(), made.end(), signature.bytes.begin());
  signature.checksum = format::signature_checksum(signature);
  std::memcpy(bytes + end, &signature, sizeof signature);
  return memory;
}

Result<Memory> artifact_bytes(const ArtifactContents& contents) {
  Memory memory;
  std::size_t at = 0;
  ATTUNE_RETURN_IF_ERROR(write_to(
      contents,
      [&](std::uint64_t bytes) -> Status {
        ATTUNE_ASSIGN(memory, Memory::allocate(bytes));
        return {};
      },
      [&](std::span<const std::byte> bytes) -> Status {
        if (!bytes.empty()) {
          std::memcpy(static_cast<std::byte*>(memory.data()) + at, bytes.data(), bytes.size());
        }
        at += bytes.size();
        return {};
      }));
  return memory;
}

}  // namespace attune::runtime
