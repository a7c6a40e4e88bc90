#include "tests/support/sample_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace attune::test {
namespace {

constexpr std::string_view kFloats = "f32 f64 f16 bf16";
constexpr std::string_view kSigned = "i32 i64 i8 i16";
constexpr std::string_view kUnsigned = "u8 u16 u32 u64";

// What is left of a line; the functions of the grammar take from its beginning.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) { skip(); }

  bool done() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  bool take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    skip();
    return true;
  }

  // Letters, digits and underscores.
  std::string word() {
    std::size_t end = 0;
    while (end < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[end])) != 0 || rest_[end] == '_')) {
      ++end;
    }
    const std::string found(rest_.substr(0, end));
    rest_.remove_prefix(end);
    skip();
    return found;
  }

  // Up to the next `end`, which is taken too.
  std::string until(char end) {
    const std::size_t place = std::min(rest_.find(end), rest_.size());
    const std::string found(rest_.substr(0, place));
    rest_.remove_prefix(std::min(place + 1, rest_.size()));
    skip();
    return found;
  }

  // As it is written: "1", "-0.5", "1e-5", "nan"; two dots end it.
  std::string number() {
    std::size_t end = 0;
    while (end < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[end])) != 0 ||
                                  rest_[end] == '-' || rest_[end] == '.')) {
      if (rest_.substr(end).starts_with("..")) break;
      ++end;
    }
    const std::string found(rest_.substr(0, end));
    rest_.remove_prefix(end);
    skip();
    return found;
  }

  Error wrong(std::string_view expected) const {
    return invalid(fmt::format("'{}' where {} is expected", rest_, expected));
  }

 private:
  void skip() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

bool is_real(const std::string& text) { return text.find_first_of(".en") != std::string::npos; }

Result<std::vector<std::string>> numbers(Reader& reader, std::string_view end) {
  std::vector<std::string> all;
  while (!reader.take(end)) {
    if (!all.empty() && !reader.take(",")) return reader.wrong("a comma");
    all.push_back(reader.number());
    if (all.back().empty()) return reader.wrong("a number");
  }
  return all;
}

Result<SampleOperand> operand(Reader& reader) {
  SampleOperand operand;
  if (reader.take("_")) {
    operand.present = false;
    return operand;
  }
  operand.type = reader.word();
  if (!reader.take("[")) return reader.wrong("[shape]");
  ATTUNE_ASSIGN(const std::vector<std::string> shape, numbers(reader, "]"));
  for (const std::string& extent : shape) operand.shape.push_back(std::stoll(extent));
  if (reader.take("@")) {
    operand.has_range = true;
    operand.low = std::strtod(reader.number().c_str(), nullptr);
    if (!reader.take("..")) return reader.wrong("..");
    operand.high = std::strtod(reader.number().c_str(), nullptr);
  }
  if (reader.take("=(")) {
    ATTUNE_ASSIGN(const std::vector<std::string> values, numbers(reader, ")"));
    for (const std::string& v : values) operand.values.push_back(std::strtod(v.c_str(), nullptr));
  }
  operand.known = reader.take("!");
  return operand;
}

Result<ops::Attribute> value(Reader& reader) {
  if (reader.take("\"")) return ops::Attribute(reader.until('"'));
  if (reader.take("[")) {
    ATTUNE_ASSIGN(const std::vector<std::string> all, numbers(reader, "]"));
    std::vector<std::int64_t> integers;
    for (const std::string& one : all) integers.push_back(std::stoll(one));
    return ops::Attribute(std::move(integers));
  }
  const char first = reader.rest().empty() ? ' ' : reader.rest()[0];
  if (first != '-' && std::isdigit(static_cast<unsigned char>(first)) == 0) {
    return ops::Attribute(reader.word());
  }
  const std::string text = reader.number();
  if (is_real(text)) return ops::Attribute(std::strtod(text.c_str(), nullptr));
  return ops::Attribute(std::int64_t{std::stoll(text)});
}

std::string names_of(const std::string& set) {
  const std::string integers = fmt::format("{} {}", kSigned, kUnsigned);
  const std::string all = fmt::format("{} {}", kFloats, integers);
  if (set == "floats") return std::string(kFloats);
  if (set == "signed") return std::string(kSigned);
  if (set == "integers") return integers;
  if (set == "numbers") return all;
  return set == "any" ? all + " bool" : set;
}

Status add_types(const std::string& set, std::vector<ir::DType>& types) {
  const std::string list = names_of(set);
  for (Reader one(list); !one.done();) {
    const std::string name = one.word();
    const auto type = ir::parse_dtype(name);
    if (!type) return invalid(fmt::format("'{}' is no type", name));
    if (std::find(types.begin(), types.end(), *type) == types.end()) types.push_back(*type);
  }
  return {};
}

}  // namespace

Result<SampleLine> parse_sample_line(std::string_view text) {
  Reader reader(text);
  SampleLine line;
  line.op = reader.word();
  if (!reader.take("(")) return reader.wrong("(operands)");
  while (!reader.take(")")) {
    if (!line.operands.empty() && !reader.take(",")) return reader.wrong("a comma");
    ATTUNE_ASSIGN(SampleOperand next, operand(reader));
    line.operands.push_back(std::move(next));
  }
  if (reader.take("{")) {
    while (!reader.take("}")) {
      if (!line.attributes.empty() && !reader.take(",")) return reader.wrong("a comma");
      const std::string key = reader.word();
      if (!reader.take("=")) return reader.wrong("=");
      ATTUNE_ASSIGN(ops::Attribute attribute, value(reader));
      line.attributes.emplace(key, std::move(attribute));
    }
  }
  if (reader.take(":")) {
    while (!reader.done()) {
      const std::string set = reader.word();
      if (set.empty()) return reader.wrong("a type");
      ATTUNE_RETURN_IF_ERROR(add_types(set, line.types));
    }
  } else {
    line.types = {ir::kF32};
  }
  if (!reader.done()) return reader.wrong("the end");
  return line;
}

}  // namespace attune::test
