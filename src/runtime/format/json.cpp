#include "runtime/format/json.h"

#include <charconv>
#include <cmath>

#include "base/match.h"

namespace attune::runtime {
namespace {

constexpr int kDeepest = 160;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Json> document() {
    Json value = parse_value(0);
    skip_space();
    if (!failed_ && at_ != text_.size()) fail("text after the end");
    if (failed_) {
      return Error{ErrorCode::Corrupt,
                   "malformed JSON at byte " + std::to_string(failed_at_) + ": " + reason_, ""};
    }
    return value;
  }

 private:
  void fail(const char* reason) {
    if (failed_) return;
    failed_ = true;
    failed_at_ = at_;
    reason_ = reason;
    at_ = text_.size();  // nothing more is read
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char wanted) {
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  Json parse_value(int depth) {
    if (depth > kDeepest) {
      fail("nested too deeply");
      return {};
    }
    skip_space();
    switch (peek()) {
      case '{':
        return parse_object(depth);
      case '[':
        return parse_array(depth);
      case '"':
        return parse_string();
      case 't':
        return parse_word("true", true);
      case 'f':
        return parse_word("false", false);
      case 'n':
        return parse_word("null", Json());
      default:
        return parse_number();
    }
  }

  Json parse_word(std::string_view word, Json value) {
    if (text_.substr(at_, word.size()) != word) {
      fail("unknown word");
      return {};
    }
    at_ += word.size();
    return value;
  }

  Json parse_number() {
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    const char* stop = begin;
    while (stop != end && ((*stop >= '0' && *stop <= '9') || *stop == '-' || *stop == '+' ||
                           *stop == '.' || *stop == 'e' || *stop == 'E')) {
      ++stop;
    }
    std::int64_t whole = 0;
    if (const auto [rest, error] = std::from_chars(begin, stop, whole);
        error == std::errc() && rest == stop && stop != begin) {
      at_ += static_cast<std::size_t>(stop - begin);
      return whole;
    }
    double real = 0.0;
    const auto [rest, error] = std::from_chars(begin, stop, real);
    if (error != std::errc() || rest != stop || stop == begin) {
      fail("a value is missing or not a number");
      return {};
    }
    at_ += static_cast<std::size_t>(stop - begin);
    return real;
  }

  std::uint32_t parse_hex4() {
    std::uint32_t code = 0;
    if (text_.size() - at_ < 4) {
      fail("cut-off escape");
      return 0;
    }
    const char* begin = text_.data() + at_;
    const auto [rest, error] = std::from_chars(begin, begin + 4, code, 16);
    if (error != std::errc() || rest != begin + 4) {
      fail("bad escape");
      return 0;
    }
    at_ += 4;
    return code;
  }

  static void append_utf8(std::string& text, std::uint32_t code) {
    const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
      put(0xc0 | code >> 6);
      return put(0x80 | (code & 0x3f));
    }
    if (code < 0x10000) {
      put(0xe0 | code >> 12);
    } else {
      put(0xf0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3f));
    }
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }

  void parse_escape(std::string& text) {
    static constexpr std::string_view kFrom = "\"\\/bfnrt";
    static constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
    const char letter = peek();
    if (const std::size_t index = kFrom.find(letter); index != std::string_view::npos) {
      ++at_;
      text += kTo[index];
      return;
    }
    if (!take('u')) return fail("bad escape");
    std::uint32_t code = parse_hex4();
    if (code >= 0xd800 && code < 0xdc00) {  // the first half of a surrogate pair
      if (!take('\\') || !take('u')) return fail("half a surrogate pair");
      const std::uint32_t second = parse_hex4();
      if (second < 0xdc00 || second > 0xdfff) return fail("half a surrogate pair");
      code = 0x10000 + ((code - 0xd800) << 10) + (second - 0xdc00);
    }
    append_utf8(text, code);
  }

  std::string parse_string() {
    std::string text;
    if (!take('"')) fail("a string is missing");
    while (!failed_) {
      if (at_ >= text_.size()) {
        fail("a string has no end");
      } else if (take('"')) {
        return text;
      } else if (take('\\')) {
        parse_escape(text);
      } else if (static_cast<unsigned char>(peek()) < 0x20) {
        fail("control character in a string");
      } else {
        text += text_[at_++];
      }
    }
    return text;
  }

  Json parse_array(int depth) {
    JsonArray items;
    take('[');
    skip_space();
    if (take(']')) return items;
    while (!failed_) {
      items.push_back(parse_value(depth + 1));
      skip_space();
      if (take(']')) return items;
      if (!take(',')) fail("',' or ']' is missing");
    }
    return {};
  }

  Json parse_object(int depth) {
    JsonObject members;
    take('{');
    skip_space();
    if (take('}')) return members;
    while (!failed_) {
      skip_space();
      std::string key = parse_string();
      skip_space();
      if (!take(':')) fail("':' is missing");
      members.emplace_back(std::move(key), parse_value(depth + 1));
      skip_space();
      if (take('}')) return members;
      if (!take(',')) fail("',' or '}' is missing");
    }
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool failed_ = false;
  std::size_t failed_at_ = 0;
  const char* reason_ = "";
};

void write_string(std::string& out, std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += kDigits[c >> 4];
      out += kDigits[c & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

void write_double(std::string& out, double value) {
  if (std::isnan(value)) return write_string(out, "nan");
  if (std::isinf(value)) return write_string(out, value > 0 ? "inf" : "-inf");
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  const std::string_view text(digits, static_cast<std::size_t>(end - digits));
  out += text;
  // A whole number keeps its kind.
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

void write(std::string& out, const Json& value) {
  std::visit(Match{[&](std::nullptr_t) { out += "null"; },
                   [&](bool flag) { out += flag ? "true" : "false"; },
                   [&](std::int64_t number) { out += std::to_string(number); },
                   [&](double number) { write_double(out, number); },
                   [&](const std::string& text) { write_string(out, text); },
                   [&](const JsonArray& items) {
                     out += '[';
                     for (std::size_t i = 0; i < items.size(); ++i) {
                       if (i > 0) out += ',';
                       write(out, items[i]);
                     }
                     out += ']';
                   },
                   [&](const JsonObject& members) {
                     out += '{';
                     for (std::size_t i = 0; i < members.size(); ++i) {
                       if (i > 0) out += ',';
                       write_string(out, members[i].first);
                       out += ':';
                       write(out, members[i].second);
                     }
                     out += '}';
                   }},
             value.kind());
}

}  // namespace

const Json* Json::find(std::string_view key) const {
  const auto* members = get<JsonObject>();
  if (members == nullptr) return nullptr;
  for (const auto& [name, value] : *members) {
    if (name == key) return &value;
  }
  return nullptr;
}

Result<Json> parse_json(std::string_view text) { return Parser(text).document(); }

std::string to_text(const Json& value) {
  std::string out;
  write(out, value);
  return out;
}

}  // namespace attune::runtime
