// Identifiers for the variables and buffers of one function: what the IR calls them, made fit for
// C, and no two alike.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace attune::c {

// Letters, digits and '_' only, not beginning with a digit, no keyword of C.
std::string identifier(std::string_view text);

class Names {
 public:
  // The same name for the same text.
  const std::string& of(const std::string& text);
  // One that nobody has yet: at_t0, at_t1 ...
  std::string fresh();

 private:
  std::map<std::string, std::string, std::less<>> known_;
  std::set<std::string, std::less<>> taken_;
  int next_ = 0;
};

}  // namespace attune::c
