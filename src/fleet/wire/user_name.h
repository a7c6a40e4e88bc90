// Names of users, as this machine knows them.
#pragma once

#include <cstdint>
#include <string>

namespace attune::wire {

// Of a user that has no name: the number.
std::string user_name(std::uint32_t uid);

}  // namespace attune::wire
