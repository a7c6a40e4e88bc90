// Result<T>: a value, or an Error that a person can act on. Used wherever the user or the world may
// be at fault; our own mistakes are CHECKs (check.h).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace attune {

enum class ErrorCode {
  InvalidArgument,  // the user asked for something that makes no sense
  Unsupported,      // it makes sense, but Attune cannot do it
  NotFound,         // a file, record or name is missing
  Io,               // the disk, a pipe or a process failed
  Corrupt,          // stored data is damaged or of a foreign version
  Exhausted,        // memory, disk or time ran out
};

// `message` says what is wrong, with the numbers, lower-case, no final period; `hint` says the next
// step and may be empty.
struct Error {
  ErrorCode code;
  std::string message;
  std::string hint;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T success) : state_(std::in_place_index<0>, std::move(success)) {}
  Result(Error failure) : state_(std::in_place_index<1>, std::move(failure)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  const T& value() const& {
    CHECK(ok(), "value() of a failed result: " + std::get<1>(state_).message);
    return std::get<0>(state_);
  }
  T& value() & {
    CHECK(ok(), "value() of a failed result: " + std::get<1>(state_).message);
    return std::get<0>(state_);
  }
  T&& value() && {
    CHECK(ok(), "value() of a failed result: " + std::get<1>(state_).message);
    return std::get<0>(std::move(state_));
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  const Error& error() const& {
    CHECK(!ok(), "error() of a successful result");
    return std::get<1>(state_);
  }
  Error&& error() && {
    CHECK(!ok(), "error() of a successful result");
    return std::get<1>(std::move(state_));
  }

 private:
  std::variant<T, Error> state_;
};

// A result without a value: success, or an Error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    CHECK(!ok(), "error() of a successful status");
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

inline Error invalid(std::string message, std::string hint = {}) {
  return {ErrorCode::InvalidArgument, std::move(message), std::move(hint)};
}
inline Error unsupported(std::string message, std::string hint = {}) {
  return {ErrorCode::Unsupported, std::move(message), std::move(hint)};
}

}  // namespace attune

#define ATTUNE_CONCAT_INNER(a, b) a##b
#define ATTUNE_CONCAT(a, b) ATTUNE_CONCAT_INNER(a, b)

// ATTUNE_ASSIGN(auto x, f()); binds x to the value of f(), or returns its error from here.
#define ATTUNE_ASSIGN(declaration, expression) \
  ATTUNE_ASSIGN_IMPL(ATTUNE_CONCAT(result_, __LINE__), declaration, expression)
#define ATTUNE_ASSIGN_IMPL(result, declaration, expression) \
  auto result = (expression);                               \
  if (!result.ok()) return std::move(result).error();       \
  declaration = std::move(result).value()

// ATTUNE_RETURN_IF_ERROR(f()); returns the error of a Status from here.
#define ATTUNE_RETURN_IF_ERROR(expression) \
  if (auto status_ = (expression); !status_.ok()) return status_.error()
