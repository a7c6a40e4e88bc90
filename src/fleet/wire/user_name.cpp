#include "fleet/wire/user_name.h"

#include <pwd.h>

#include <optional>
#include <vector>

namespace attune::wire {

namespace {

std::optional<std::string> find_name(std::uint32_t uid) {
  passwd entry = {};
  passwd* found = nullptr;
  std::vector<char> room(16384);
  if (::getpwuid_r(uid, &entry, room.data(), room.size(), &found) == 0 && found != nullptr) {
    return found->pw_name;
  }
  return std::nullopt;
}

}  // namespace

std::string user_name(std::uint32_t uid) { return find_name(uid).value_or(std::to_string(uid)); }

bool is_known_user(std::uint32_t uid) { return find_name(uid).has_value(); }

}  // namespace attune::wire
