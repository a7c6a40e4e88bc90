#include "fleet/wire/user_name.h"

#include <pwd.h>

#include <vector>

namespace attune::wire {

std::string user_name(std::uint32_t uid) {
  passwd entry = {};
  passwd* found = nullptr;
  std::vector<char> room(16384);
  if (::getpwuid_r(uid, &entry, room.data(), room.size(), &found) == 0 && found != nullptr) {
    return found->pw_name;
  }
  return std::to_string(uid);
}

}  // namespace attune::wire
