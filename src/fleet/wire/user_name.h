// Names of users, as this machine knows them.
#pragma once

#include <cstdint>
#include <string>

namespace attune::wire {

// Of a user that has no name: the number.
std::string user_name(std::uint32_t uid);
// Whether there is such a user. Numbers that this machine gives to users of containers have no
// name.
bool is_known_user(std::uint32_t uid);

}  // namespace attune::wire
