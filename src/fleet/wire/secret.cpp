#include "fleet/wire/secret.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <vector>

#include "base/check.h"

namespace attune::wire {

std::string random_secret(std::size_t bytes) {
  std::vector<unsigned char> noise(bytes);
  CHECK(::getrandom(noise.data(), noise.size(), 0) == static_cast<ssize_t>(noise.size()),
        "the system has no random numbers");
  std::string text;
  for (const unsigned char byte : noise) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace attune::wire
