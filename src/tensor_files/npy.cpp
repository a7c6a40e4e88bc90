#include "tensor_files/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/atomic_file.h"
#include "base/text_file.h"

namespace attune::tensor_files {
namespace {

using runtime::DType;

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::size_t kHeaderAlignment = 64;

struct TypeName {
  DType type;
  std::string_view descr;
};
constexpr TypeName kTypes[] = {{DType::F32, "<f4"},  {DType::F16, "<f2"}, {DType::I8, "|i1"},
                               {DType::U8, "|u1"},   {DType::I32, "<i4"}, {DType::I64, "<i8"},
                               {DType::Bool, "|b1"}, {DType::F64, "<f8"}, {DType::I16, "<i2"},
                               {DType::U16, "<u2"},  {DType::U32, "<u4"}, {DType::U64, "<u8"}};

Error malformed(const std::string& path, const std::string& why) {
  return {ErrorCode::Corrupt, fmt::format("'{}' is not a .npy file: {}", path, why),
          "write it with numpy.save"};
}

// The text behind 'key': in the header's dictionary, up to the end of the header.
std::optional<std::string_view> find_value(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(fmt::format("'{}'", key));
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t colon = header.find(':', at);
  if (colon == std::string_view::npos) return std::nullopt;
  const std::size_t start = header.find_first_not_of(' ', colon + 1);
  if (start == std::string_view::npos) return std::nullopt;
  return header.substr(start);
}

constexpr std::size_t kMostDimensions = 64;  // NumPy has no more

// "(2, 3)", "(5,)" or "()".
std::optional<std::vector<std::int64_t>> parse_shape(std::string_view text) {
  std::vector<std::int64_t> shape;
  if (!text.starts_with('(')) return std::nullopt;
  text.remove_prefix(1);
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
    if (text.starts_with(')')) return shape;
    std::int64_t extent = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (failure != std::errc() || extent < 0 || shape.size() == kMostDimensions) {
      return std::nullopt;
    }
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
}

Result<DType> parse_type(std::string_view text, const std::string& path) {
  for (const TypeName& name : kTypes) {
    const std::string_view descr = name.descr;
    // One byte has no order, so that writers differ in what they say about it.
    const bool same =
        text.size() == 3 && text.substr(1) == descr.substr(1) &&
        (text[0] == descr[0] || (descr[0] == '|' && text[0] != '>') || (text[0] == '='));
    if (same) return name.type;
  }
  return unsupported(
      fmt::format("'{}' holds elements of type '{}', which no tensor can have", path, text),
      "convert it in NumPy, e.g. with .astype('float32')");
}

// Where the header's text starts and how long it is.
struct HeaderPlace {
  std::size_t offset, size;
};
std::optional<HeaderPlace> find_header(std::string_view bytes) {
  if (bytes.size() < 12 || !bytes.starts_with(kMagic)) return std::nullopt;
  const auto byte = [&](std::size_t i) {
    return std::size_t{static_cast<unsigned char>(bytes[i])};
  };
  const std::size_t version = byte(6);
  if (version == 1) return HeaderPlace{10, byte(8) | byte(9) << 8};
  if (version > 3) return std::nullopt;
  return HeaderPlace{12, byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24};
}

}  // namespace

Result<runtime::Tensor> parse_npy(const std::string& bytes, const std::string& path) {
  const std::optional<HeaderPlace> place = find_header(bytes);
  if (!place) return malformed(path, "it does not begin like one");
  if (place->size > bytes.size() - place->offset) return malformed(path, "it ends in its header");
  const std::string_view header = std::string_view(bytes).substr(place->offset, place->size);
  const auto descr = find_value(header, "descr");
  const auto order = find_value(header, "fortran_order");
  const auto shape_text = find_value(header, "shape");
  if (!descr || !order || !shape_text || !descr->starts_with('\'')) {
    return malformed(path, "its header is incomplete");
  }
  ATTUNE_ASSIGN(const DType type, parse_type(descr->substr(1, descr->find('\'', 1) - 1), path));
  if (!order->starts_with("False")) {
    return unsupported(fmt::format("'{}' is in Fortran order", path),
                       "save numpy.ascontiguousarray(x) instead");
  }
  std::optional<std::vector<std::int64_t>> shape = parse_shape(*shape_text);
  if (!shape) return malformed(path, "its shape makes no sense");
  ATTUNE_ASSIGN(const std::int64_t need, runtime::checked_bytes(type, *shape));
  const std::size_t have = bytes.size() - place->offset - place->size;
  if (static_cast<std::size_t>(need) != have) {
    return malformed(path, fmt::format("shape [{}] needs {} bytes, {} are there",
                                       fmt::join(*shape, ", "), need, have));
  }
  ATTUNE_ASSIGN(runtime::Tensor tensor, runtime::Tensor::allocate(type, std::move(*shape)));
  if (have > 0) std::memcpy(tensor.data(), bytes.data() + bytes.size() - have, have);
  return tensor;
}

Result<runtime::Tensor> read_npy(const std::string& path) {
  ATTUNE_ASSIGN(const std::string bytes, read_text_file(path));
  return parse_npy(bytes, path);
}

std::string npy_bytes(const runtime::Tensor& tensor) {
  const bool widened = tensor.type() == DType::BF16;
  const DType type = widened ? DType::F32 : tensor.type();
  std::string_view descr;
  for (const TypeName& name : kTypes) {
    if (name.type == type) descr = name.descr;
  }
  std::string shape;
  for (const std::int64_t extent : tensor.shape()) shape += fmt::format("{}, ", extent);
  if (tensor.shape().size() > 1) shape.resize(shape.size() - 2);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  const std::size_t before = kMagic.size() + 4;
  header.resize((before + header.size() + kHeaderAlignment) / kHeaderAlignment * kHeaderAlignment -
                    before - 1,
                ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
            static_cast<char>(header.size() >> 8)};
  bytes += header;
  if (!widened) return bytes.append(static_cast<const char*>(tensor.data()), tensor.bytes());
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const auto value = static_cast<float>(runtime::read_element(tensor.data(), DType::BF16, i));
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

Status write_npy(const std::string& path, const runtime::Tensor& tensor) {
  return write_file_atomically(path, npy_bytes(tensor));
}

}  // namespace attune::tensor_files
