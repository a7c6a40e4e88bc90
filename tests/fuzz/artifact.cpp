// Artifacts, as they are and with checksums that fit: a file that was made to do harm has those.
#include "runtime/format/artifact.h"

#include <cstring>
#include <string>

#include "runtime/format/artifact_format.h"
#include "tests/fuzz/harness.h"

namespace attune::fuzz {
namespace {

namespace format = runtime::format;

void open(std::string_view bytes) {
  auto memory = runtime::Memory::allocate(bytes.size());
  if (!memory.ok() || bytes.empty()) return;
  std::memcpy(memory->data(), bytes.data(), bytes.size());
  const auto artifact = runtime::Artifact::from_memory(std::move(*memory), "x");
  if (artifact.ok()) (void)artifact->verify_all_weights();
}

// The same with all checksums computed anew.
std::string with_checksums(std::string_view bytes) {
  std::string file(bytes);
  format::Header header;
  if (file.size() < sizeof header) return file;
  std::memcpy(&header, file.data(), sizeof header);
  const auto part = [&](std::uint64_t begin, std::uint64_t end) {
    const bool inside = begin <= end && end <= file.size();
    return std::as_bytes(std::span(file.data() + (inside ? begin : 0), inside ? end - begin : 0));
  };
  header.file_bytes = file.size();
  const format::Section& weights = header.table[format::kWeights];
  const format::Section& chunks = header.table[format::kChunks];
  for (std::uint64_t i = 0; i < chunks.bytes / sizeof i && i < file.size(); ++i) {
    const std::uint64_t begin = weights.offset + i * format::kChunkBytes;
    const std::uint64_t end = std::min<std::uint64_t>(begin + format::kChunkBytes, file.size());
    const std::uint64_t at = chunks.offset + i * sizeof i;
    if (at > file.size() || file.size() - at < sizeof i) break;
    const std::uint64_t sum = format::chunk_checksum(part(begin, end), i);
    std::memcpy(file.data() + at, &sum, sizeof sum);
  }
  for (std::size_t i = 0; i + 1 < format::kSections; ++i) {
    header.table[i].checksum =
        format::section_checksum(part(header.table[i].offset, header.table[i + 1].offset),
                                 static_cast<format::SectionKind>(i));
  }
  header.checksum = format::header_checksum(header);
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

}  // namespace

void fuzz_artifact(std::string_view bytes) {
  open(bytes);
  open(with_checksums(bytes));
}

}  // namespace attune::fuzz
