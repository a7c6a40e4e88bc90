// Weights as arrays of 64-bit words, or as a file of bytes.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "targets/c/model/parts.h"

namespace attune::c {
namespace {

// An array ends behind the first piece that makes it larger than this.
constexpr std::int64_t kArrayBytes = std::int64_t{4} << 20;
constexpr std::int64_t kWordBytes = 8;

// The bytes [first, first + size) of the weights; between pieces there are zeros.
std::string bytes_of(const ModelSource& source, std::int64_t first, std::int64_t size) {
  std::string bytes(static_cast<std::size_t>(size), '\0');
  for (const runtime::WeightPiece& piece : source.weights) {
    if (piece.offset < first || piece.offset >= first + size || piece.bytes.empty()) continue;
    std::memcpy(bytes.data() + (piece.offset - first), piece.bytes.data(), piece.bytes.size());
  }
  return bytes;
}

std::string array_text(const WeightsArray& array, const std::string& bytes) {
  constexpr std::size_t kWordsPerLine = 4;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = fmt::format(
      "#include <stdint.h>\n\n"
      "#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__\n"
      "#error \"the weights are written for little-endian machines: use --weights file\"\n"
      "#endif\n\n"
      "extern const uint64_t {0}[];\n"
      "_Alignas(64) const uint64_t {0}[{1}] = {{",
      array.name, bytes.size() / kWordBytes);
  for (std::size_t at = 0; at < bytes.size(); at += kWordBytes) {
    if (at / kWordBytes % kWordsPerLine == 0) text += "\n ";
    std::uint64_t word = 0;
    for (std::size_t i = kWordBytes; i-- > 0;) {
      word = word << 8 | static_cast<unsigned char>(bytes[at + i]);
    }
    char digits[17] = {};
    for (int i = 15; i >= 0; --i, word >>= 4) digits[i] = kDigits[word & 15];
    text += " 0x";
    text.append(digits, 16);
    text += "u,";
  }
  return text + "\n};\n";
}

}  // namespace

std::vector<WeightsArray> plan_arrays(const ModelSource& source, const std::string& name) {
  std::vector<std::int64_t> starts;
  for (const runtime::WeightPiece& piece : source.weights) starts.push_back(piece.offset);
  std::sort(starts.begin(), starts.end());
  starts.push_back(source.weight_bytes);
  std::vector<WeightsArray> arrays;
  std::int64_t first = 0;
  for (const std::int64_t end : starts) {
    const bool is_last = end == source.weight_bytes;
    if (end == first || (end - first < kArrayBytes && !is_last)) continue;
    arrays.push_back({fmt::format("{}_weights_{}", name, arrays.size()), first, end - first});
    first = end;
  }
  return arrays;
}

std::vector<SourceFile> weight_files(const ModelParts& parts) {
  std::vector<SourceFile> files;
  if (parts.form == WeightsForm::File) {
    files.push_back(
        {parts.name + ".weights", bytes_of(parts.source, 0, parts.source.weight_bytes)});
  }
  for (const WeightsArray& array : parts.arrays) {
    const std::int64_t padded = (array.bytes + kWordBytes - 1) / kWordBytes * kWordBytes;
    std::string bytes = bytes_of(parts.source, array.first, array.bytes);
    bytes.resize(static_cast<std::size_t>(padded));
    files.push_back({array.name + ".c", array_text(array, bytes)});
  }
  return files;
}

}  // namespace attune::c
