// Values of a JSON document as types of ours. The library converts every number to every type, and
// what that does to one that does not fit is undefined; here it is of the wrong type, and so is one
// with a fraction where a whole number is wanted. For any basic_json; throws what that throws.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace attune {

template <typename T>
struct WholeNumbers : std::false_type {};
template <typename T>
struct WholeNumbers<std::vector<T>>
    : std::bool_constant<std::is_integral_v<T> && !std::is_same_v<T, bool>> {};

template <typename T, typename Json>
T json_value(const Json& value) {
  const auto refuse = [&](const char* why) { throw Json::type_error::create(302, why, &value); };
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    const bool fits =
        value.is_number_unsigned()
            ? std::in_range<T>(value.template get<std::uint64_t>())
            : value.is_number_integer() && std::in_range<T>(value.template get<std::int64_t>());
    if (!fits) refuse("it is no whole number that fits");
    return value.template get<T>();
  } else if constexpr (WholeNumbers<T>::value) {
    if (!value.is_array()) refuse("it is no list");
    T list;
    for (const auto& each : value) list.push_back(json_value<typename T::value_type>(each));
    return list;
  } else {
    return value.template get<T>();
  }
}

}  // namespace attune
