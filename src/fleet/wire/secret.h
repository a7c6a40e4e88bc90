// Texts that nobody can guess.
#pragma once

#include <cstddef>
#include <string>

namespace attune::wire {

// So many random bytes of the system, as twice as many hexadecimal digits.
std::string random_secret(std::size_t bytes = 32);

}  // namespace attune::wire
