// Identifiers for the variables and buffers of one function: what the IR calls them, made fit for
// C, and no two alike.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace attune::c_text {

// Letters, digits and '_' only, not beginning with a digit, no keyword of C and none of `words`.
std::string identifier(std::string_view text, std::span<const std::string_view> words = {});

class Names {
 public:
  explicit Names(std::span<const std::string_view> words = {}) : words_(words) {}

  // The same name for the same text.
  const std::string& of(const std::string& text);
  // One that nobody has yet: at_t0, at_t1 ...
  std::string fresh();

 private:
  std::span<const std::string_view> words_;
  std::map<std::string, std::string, std::less<>> known_;
  std::set<std::string, std::less<>> taken_;
  int next_ = 0;
};

}  // namespace attune::c_text
