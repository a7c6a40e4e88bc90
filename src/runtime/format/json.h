// JSON as the artifact needs it: a value, a strict reader with a limit on nesting, and a writer
// that gives the same text for the same value. Whole numbers stay 64-bit integers; objects keep the
// order of their keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace attune::runtime {

class Json;
using JsonArray = std::vector<Json>;
using JsonObject = std::vector<std::pair<std::string, Json>>;

class Json {
 public:
  using Kind =
      std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, JsonArray, JsonObject>;

  Json() : kind_(nullptr) {}
  Json(bool value) : kind_(value) {}
  Json(std::int64_t value) : kind_(value) {}
  Json(std::int32_t value) : kind_(std::int64_t{value}) {}
  Json(double value) : kind_(value) {}
  Json(std::string value) : kind_(std::move(value)) {}
  Json(const char* value) : kind_(std::string(value)) {}
  Json(JsonArray value) : kind_(std::move(value)) {}
  Json(JsonObject value) : kind_(std::move(value)) {}

  const Kind& kind() const { return kind_; }
  template <typename T>
  const T* get() const {
    return std::get_if<T>(&kind_);
  }
  // The value behind a key; null when this is no object or has no such key.
  const Json* find(std::string_view key) const;

 private:
  Kind kind_;
};

// Corrupt, with the byte at which reading stopped.
Result<Json> parse_json(std::string_view text);
// Floating point in the fewest digits that read back the same; values without a number in JSON
// become the strings "inf", "-inf" and "nan".
std::string to_text(const Json& value);

}  // namespace attune::runtime
