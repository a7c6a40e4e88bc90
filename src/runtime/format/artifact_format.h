// The bytes of an artifact, shared by its writer and its reader: a header of fixed size, then the
// sections one after the other. A section's checksum covers it up to where the next one begins; the
// weights, which may be large, have one checksum per chunk instead, kept in a section of their own.
// A signed artifact (version 2) ends with the signature of all bytes before it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/format/checksum.h"
#include "runtime/format/signature.h"

namespace attune::runtime::format {

static_assert(std::endian::native == std::endian::little, "numbers are stored little-endian");

// A line end of each kind and a byte beyond ASCII: transfers that mangle text break it.
inline constexpr std::array<unsigned char, 8> kMagic = {0x8a, 'A',  'T',  'N',
                                                        '\r', '\n', 0x1a, '\n'};

enum SectionKind : std::uint32_t { kGraph = 0, kChunks = 1, kCode = 2, kWeights = 3 };
inline constexpr std::size_t kSections = 4;
inline constexpr std::array<const char*, kSections> kSectionNames = {"graph", "chunks", "code",
                                                                     "weights"};

struct Section {
  std::uint64_t offset = 0;    // from the start of the file, a multiple of 64
  std::uint64_t bytes = 0;     // without the padding behind it
  std::uint64_t checksum = 0;  // of the section and the padding behind it; 0 for the weights
};

struct Header {
  std::array<unsigned char, 8> magic = kMagic;
  std::uint32_t version = 0;
  std::uint32_t sections = kSections;
  std::uint64_t file_bytes = 0;
  std::array<Section, kSections> table = {};
  Section signature = {};  // without a checksum of its own here, which it would have to cover
  std::array<std::uint64_t, 5> reserved = {};
  std::uint64_t checksum = 0;  // of all the bytes before it
};
static_assert(sizeof(Header) == 192);

// The code section: the number of objects, then (offset from the section's start, bytes) of each,
// then the objects, each aligned to 64 bytes.
struct CodeObject {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// The last section of a signed artifact.
struct Signature {
  std::uint64_t kind = 1;  // Ed25519 (RFC 8032), of all the bytes before this section
  std::array<std::byte, kSignatureBytes> bytes = {};
  std::uint64_t checksum = 0;  // of what stands before it
};
static_assert(sizeof(Signature) == 80);

inline constexpr std::uint64_t kSectionAlignment = 64;
inline constexpr std::uint64_t kWeightAlignment = 4096;
inline constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << 20;

inline std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}
inline std::uint64_t chunk_count(std::uint64_t bytes) {
  return (bytes + kChunkBytes - 1) / kChunkBytes;
}

// Seeds differ, so that a section or chunk in the wrong place shows.
inline std::uint64_t header_checksum(const Header& header) {
  return checksum(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, checksum)), 1);
}
inline std::uint64_t section_checksum(std::span<const std::byte> bytes, SectionKind kind) {
  return checksum(bytes, 0x100u + kind);
}
inline std::uint64_t chunk_checksum(std::span<const std::byte> bytes, std::uint64_t index) {
  return checksum(bytes, 0x10000u + index);
}
inline std::uint64_t signature_checksum(const Signature& signature) {
  return checksum(std::as_bytes(std::span(&signature, 1)).first(offsetof(Signature, checksum)), 2);
}

}  // namespace attune::runtime::format
