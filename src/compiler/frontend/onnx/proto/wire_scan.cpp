// The wire format (protobuf.dev/programming-guides/encoding): a message is a list of fields; a
// field is a tag, number * 8 + wire type, and a payload whose extent follows from the wire type.
#include "compiler/frontend/onnx/proto/wire_scan.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

namespace attune::onnx_proto {
namespace {

enum class Kind { Model, Graph, Node, Attribute, Function, SparseTensor, Tensor };

// The messages that may hold a tensor: message, field number, message of the field.
struct Edge {
  Kind from;
  std::uint32_t number;
  Kind to;
};
constexpr Edge kEdges[] = {
    {Kind::Model, 7, Kind::Graph},
    {Kind::Model, 25, Kind::Function},
    {Kind::Graph, 1, Kind::Node},
    {Kind::Graph, 5, Kind::Tensor},
    {Kind::Graph, 15, Kind::SparseTensor},
    {Kind::Node, 5, Kind::Attribute},
    {Kind::Attribute, 5, Kind::Tensor},
    {Kind::Attribute, 6, Kind::Graph},
    {Kind::Attribute, 10, Kind::Tensor},
    {Kind::Attribute, 11, Kind::Graph},
    {Kind::Attribute, 22, Kind::SparseTensor},
    {Kind::Attribute, 23, Kind::SparseTensor},
    {Kind::Function, 7, Kind::Node},
    {Kind::Function, 11, Kind::Attribute},
    {Kind::SparseTensor, 1, Kind::Tensor},
    {Kind::SparseTensor, 2, Kind::Tensor},
};
constexpr std::uint32_t kRawData = 9;
constexpr std::uint32_t kMappedOffset = 536870001;
constexpr std::uint32_t kMappedLength = 536870002;

enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

std::optional<Kind> message_in(Kind kind, std::uint32_t number) {
  for (const Edge& edge : kEdges) {
    if (edge.from == kind && edge.number == number) return edge.to;
  }
  return std::nullopt;
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void put_field(std::string& out, std::uint32_t number, std::uint64_t value) {
  put_varint(out, (std::uint64_t{number} << 3) | kVarint);
  put_varint(out, value);
}

struct Field {
  std::uint32_t number;
  std::uint32_t wire_type;
  std::size_t begin;    // of the tag
  std::size_t payload;  // behind tag and length
  std::size_t end;
};

class Scan {
 public:
  explicit Scan(std::span<const std::byte> file) : file_(file) {}

  // Appends the message at [begin, end) to `out`.
  Status copy(Kind kind, std::size_t begin, std::size_t end, int depth, std::string& out) {
    if (depth > kDeepestNesting) {
      return Error{ErrorCode::Unsupported,
                   fmt::format("messages are nested more than {} deep", kDeepestNesting),
                   {}};
    }
    for (std::size_t at = begin; at < end;) {
      ATTUNE_ASSIGN(const Field field, next_field(at, end));
      ATTUNE_RETURN_IF_ERROR(copy_field(kind, field, depth, out));
      at = field.end;
    }
    return {};
  }

 private:
  Status copy_field(Kind kind, const Field& field, int depth, std::string& out) {
    const std::size_t size = field.end - field.payload;
    // What is small cannot hold anything large.
    if (field.wire_type == kLengthDelimited && size > kLargeRawBytes) {
      if (kind == Kind::Tensor && field.number == kRawData) {
        put_field(out, kMappedOffset, field.payload);
        put_field(out, kMappedLength, size);
        return {};
      }
      if (const auto inner = message_in(kind, field.number)) {
        std::string body;
        ATTUNE_RETURN_IF_ERROR(copy(*inner, field.payload, field.end, depth + 1, body));
        put_varint(out, (std::uint64_t{field.number} << 3) | kLengthDelimited);
        put_varint(out, body.size());
        out += body;
        return {};
      }
    }
    out.append(reinterpret_cast<const char*>(file_.data()) + field.begin, field.end - field.begin);
    return {};
  }

  Result<Field> next_field(std::size_t at, std::size_t end) const {
    const std::size_t begin = at;
    ATTUNE_ASSIGN(const std::uint64_t tag, varint(at, end));
    const std::uint64_t number = tag >> 3;
    if (number == 0 || number > 536870911) {
      return damaged(fmt::format("no field begins at byte {}", begin));
    }
    Field field{static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(tag & 7), begin, at,
                at};
    std::uint64_t size = 0;
    switch (field.wire_type) {
      case kVarint: {
        ATTUNE_ASSIGN([[maybe_unused]] const std::uint64_t value, varint(at, end));
        field.end = at;
        return field;
      }
      case kFixed64:
        size = 8;
        break;
      case kFixed32:
        size = 4;
        break;
      case kLengthDelimited: {
        ATTUNE_ASSIGN(size, varint(at, end));
        field.payload = at;
        break;
      }
      default:
        return damaged(fmt::format("the field at byte {} is of no known kind", begin));
    }
    if (size > end - at) return too_short(begin, size, end - at, end);
    field.end = at + size;
    return field;
  }

  // Reads a number of 7 bits per byte and moves `at` behind it.
  Result<std::uint64_t> varint(std::size_t& at, std::size_t end) const {
    const std::size_t begin = at;
    std::uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at == end) return too_short(begin, at - begin + 1, end - begin, end);
      const auto byte = static_cast<std::uint64_t>(file_[at++]);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return damaged(fmt::format("the number at byte {} does not end", begin));
  }

  Error too_short(std::size_t begin, std::uint64_t need, std::size_t have, std::size_t end) const {
    if (end == file_.size()) {
      return {ErrorCode::Corrupt,
              fmt::format("it is cut short: the field at byte {} needs {} bytes, {} are left",
                          begin, need, have),
              "fetch or export it again"};
    }
    return damaged(fmt::format("the field at byte {} needs {} bytes, its message has {} left",
                               begin, need, have));
  }
  static Error damaged(std::string message) { return {ErrorCode::Corrupt, std::move(message), {}}; }

  std::span<const std::byte> file_;
};

}  // namespace

Result<std::string> without_large_data(std::span<const std::byte> file, Root root) {
  std::string out;
  const Kind kind = root == Root::Model ? Kind::Model : Kind::Tensor;
  ATTUNE_RETURN_IF_ERROR(Scan(file).copy(kind, 0, file.size(), 0, out));
  return out;
}

}  // namespace attune::onnx_proto
