// Reads the fields of a JSON object one after another and remembers the first problem with its
// place in the text; after a problem the values are empty. Inside of the records library only.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace attune::records {

struct FieldProblem {
  std::size_t column = 1;  // from 1, in bytes of the text
  std::string message;
};

class JsonFields {
 public:
  // `text` is what `object` was parsed from; `offset` is where the object is in it, about.
  JsonFields(const nlohmann::json& object, std::string_view text, std::size_t offset = 0)
      : object_(object), text_(text), offset_(offset) {
    if (!object.is_object()) problem_ = {offset + 1, "expected a JSON object"};
  }

  std::string text(const char* key) {
    const nlohmann::json* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_string()) return fail(key, "is not a text"), std::string();
    return value->get<std::string>();
  }
  // `if_null` stands for what JSON cannot say.
  double number(const char* key, std::optional<double> if_null = {}) {
    const nlohmann::json* value = find(key);
    if (value == nullptr) return 0;
    if (value->is_null() && if_null) return *if_null;
    if (!value->is_number()) return fail(key, "is not a number"), 0.0;
    return value->get<double>();
  }
  template <typename Integer>
  Integer integer(const char* key) {
    const nlohmann::json* value = find(key);
    if (value == nullptr) return 0;
    if (!value->is_number_integer()) return fail(key, "is not a whole number"), Integer{0};
    if (fits<Integer>(*value)) return value->get<Integer>();
    return fail(key, "is out of range"), Integer{0};
  }
  bool boolean(const char* key) {
    const nlohmann::json* value = find(key);
    if (value == nullptr) return false;
    if (!value->is_boolean()) return fail(key, "is neither true nor false"), false;
    return value->get<bool>();
  }
  // The fields of an object inside of this one; its problems have to be taken over with adopt().
  JsonFields object(const char* key) {
    static const nlohmann::json kNone = nlohmann::json::object();
    const nlohmann::json* value = find(key);
    if (value != nullptr && !value->is_object()) fail(key, "is not an object"), value = nullptr;
    return {value != nullptr ? *value : kNone, text_, position(key)};
  }
  void adopt(const JsonFields& inner) {
    if (!problem_) problem_ = inner.problem_;
  }

  // A problem with the value of a field, as "field 'key' WHAT".
  void fail(const char* key, const std::string& what) {
    if (!problem_) {
      problem_ = FieldProblem{position(key) + 1, std::string("field '") + key + "' " + what};
    }
  }
  const std::optional<FieldProblem>& problem() const { return problem_; }

 private:
  const nlohmann::json* find(const char* key) {
    if (problem_) return nullptr;
    const auto found = object_.find(key);
    if (found != object_.end()) return &*found;
    problem_ = FieldProblem{offset_ + 1, std::string("field '") + key + "' is missing"};
    return nullptr;
  }
  // Inside of a JSON text quotes are escaped, so that a quoted key is found only as a key.
  std::size_t position(const char* key) const {
    const std::size_t found = text_.find('"' + std::string(key) + '"', offset_);
    return found == std::string_view::npos ? offset_ : found;
  }
  template <typename Integer>
  static bool fits(const nlohmann::json& value) {
    if (value.is_number_unsigned()) {
      return value.get<std::uint64_t>() <=
             static_cast<std::uint64_t>(std::numeric_limits<Integer>::max());
    }
    const auto number = value.get<std::int64_t>();
    if constexpr (std::numeric_limits<Integer>::is_signed) {
      return number >= std::numeric_limits<Integer>::min();
    }
    return number >= 0;
  }

  const nlohmann::json& object_;
  std::string_view text_;
  std::size_t offset_;
  std::optional<FieldProblem> problem_;
};

}  // namespace attune::records
