// The layout of ZIP archives is that of PKWARE's APPNOTE: members one after the other, then a
// directory of them, then a record that says where the directory begins.
#include "tensor_files/npz.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text_file.h"
#include "tensor_files/npy.h"

namespace attune::tensor_files {
namespace {

constexpr std::uint32_t kEndSignature = 0x06054b50, kEntrySignature = 0x02014b50,
                        kMemberSignature = 0x04034b50;
constexpr std::size_t kEndBytes = 22, kEntryBytes = 46, kMemberBytes = 30;
constexpr std::uint32_t kElsewhere = 0xffffffff;  // a 64-bit number in the extra field instead
// Of all members together.
constexpr std::uint64_t kLargestBytes = std::uint64_t{1} << 31;
// No byte of deflated data stands for more (zlib's documentation, "Maximum Compression Factor").
constexpr std::uint64_t kLargestFactor = 1032;

Error malformed(const std::string& path, const std::string& why) {
  return {ErrorCode::Corrupt, fmt::format("'{}' is not a .npz file: {}", path, why),
          "write it with numpy.savez"};
}

// A little-endian number of the archive; the caller has checked that it lies within.
std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  }
  return value;
}

struct Entry {
  std::string name = {};
  std::uint64_t method = 0, checksum = 0, packed = 0, size = 0, offset = 0;
};

// Sizes beyond 32 bits are in field 1 of the extra data, in this order.
bool take_large_numbers(std::string_view extra, Entry& entry) {
  for (std::size_t at = 0; at + 4 <= extra.size();) {
    const std::uint64_t kind = number(extra, at, 2), size = number(extra, at + 2, 2);
    at += 4;
    if (size > extra.size() - at) return false;
    if (kind != 1) {
      at += size;
      continue;
    }
    const std::size_t end = at + size;
    for (std::uint64_t* field : {&entry.size, &entry.packed, &entry.offset}) {
      if (*field != kElsewhere) continue;
      if (at + 8 > end) return false;
      *field = number(extra, at, 8);
      at += 8;
    }
    return true;
  }
  return entry.size != kElsewhere && entry.packed != kElsewhere && entry.offset != kElsewhere;
}

Result<std::vector<Entry>> read_directory(std::string_view bytes, const std::string& path) {
  std::size_t end = std::string_view::npos;
  for (std::size_t at = bytes.size() >= kEndBytes ? bytes.size() - kEndBytes + 1 : 0; at-- > 0;) {
    if (number(bytes, at, 4) != kEndSignature) continue;
    end = at;
    break;
  }
  if (end == std::string_view::npos) return malformed(path, "it has no directory");
  const std::uint64_t count = number(bytes, end + 10, 2);
  std::size_t at = number(bytes, end + 16, 4);
  std::vector<Entry> entries;
  for (std::uint64_t i = 0; i < count; ++i) {
    const bool fits = at <= end && end - at >= kEntryBytes;
    if (!fits || number(bytes, at, 4) != kEntrySignature) {
      return malformed(path, fmt::format("entry {} of its directory is damaged", i));
    }
    const std::size_t name = number(bytes, at + 28, 2), extra = number(bytes, at + 30, 2),
                      comment = number(bytes, at + 32, 2);
    if (name + extra + comment > end - at - kEntryBytes) {
      return malformed(path, fmt::format("entry {} of its directory is damaged", i));
    }
    Entry entry{std::string(bytes.substr(at + kEntryBytes, name)),
                number(bytes, at + 10, 2),
                number(bytes, at + 16, 4),
                number(bytes, at + 20, 4),
                number(bytes, at + 24, 4),
                number(bytes, at + 42, 4)};
    if (!take_large_numbers(bytes.substr(at + kEntryBytes + name, extra), entry)) {
      return malformed(path, fmt::format("entry {} of its directory is damaged", i));
    }
    entries.push_back(std::move(entry));
    at += kEntryBytes + name + extra + comment;
  }
  return entries;
}

std::optional<std::string> inflate_all(std::string_view packed, std::size_t size) {
  std::string plain(size, '\0');
  z_stream stream = {};
  if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) return std::nullopt;
  // zlib never writes to its input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_out = static_cast<uInt>(plain.size());
  const int end = ::inflate(&stream, Z_FINISH);
  const bool whole = end == Z_STREAM_END && stream.total_out == size;
  ::inflateEnd(&stream);
  if (!whole) return std::nullopt;
  return plain;
}

Result<std::string> member_bytes(std::string_view bytes, const Entry& entry,
                                 const std::string& path) {
  const auto damaged = [&] {
    return malformed(path, fmt::format("its member '{}' is damaged", entry.name));
  };
  const std::size_t at = entry.offset;
  if (at > bytes.size() || bytes.size() - at < kMemberBytes ||
      number(bytes, at, 4) != kMemberSignature) {
    return damaged();
  }
  const std::size_t begin =
      at + kMemberBytes + number(bytes, at + 26, 2) + number(bytes, at + 28, 2);
  if (begin > bytes.size() || entry.packed > bytes.size() - begin) return damaged();
  const std::string_view packed = bytes.substr(begin, entry.packed);
  std::string plain;
  if (entry.method == 8) {
    if (entry.size / kLargestFactor > packed.size()) return damaged();
    auto inflated = inflate_all(packed, entry.size);
    if (!inflated) return damaged();
    plain = std::move(*inflated);
  } else if (entry.method == 0) {
    plain = packed;
  } else {
    return unsupported(fmt::format("'{}' compresses '{}' by method {}, which is not known", path,
                                   entry.name, entry.method),
                       "write it with numpy.savez");
  }
  const auto* first = reinterpret_cast<const Bytef*>(plain.data());
  if (::crc32_z(0, first, plain.size()) != entry.checksum) return damaged();
  return plain;
}

}  // namespace

Result<std::vector<NpzMember>> parse_npz(const std::string& bytes, const std::string& path) {
  ATTUNE_ASSIGN(const std::vector<Entry> entries, read_directory(bytes, path));
  std::vector<NpzMember> members;
  std::uint64_t packed = 0, unpacked = 0;
  for (const Entry& entry : entries) {
    if (!entry.name.ends_with(".npy")) continue;
    // Members that lie within each other would be unpacked again and again.
    if (entry.packed > bytes.size() - packed) return malformed(path, "its members overlap");
    packed += entry.packed;
    if (entry.size > kLargestBytes - unpacked) {
      return malformed(path, fmt::format("its members have more than {} bytes", kLargestBytes));
    }
    unpacked += entry.size;
    ATTUNE_ASSIGN(const std::string plain, member_bytes(bytes, entry, path));
    ATTUNE_ASSIGN(runtime::Tensor tensor, parse_npy(plain, path + ":" + entry.name));
    members.push_back({entry.name.substr(0, entry.name.size() - 4), std::move(tensor)});
  }
  return members;
}

Result<std::vector<NpzMember>> read_npz(const std::string& path) {
  ATTUNE_ASSIGN(const std::string bytes, read_text_file(path));
  return parse_npz(bytes, path);
}

}  // namespace attune::tensor_files
