// What workers and other tuners are handed, to say once: who has one was let in by somebody who may
// do that. A token is good for the user who asked for it, for a while, and used up by its first
// use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "fleet/jobs/book/access.h"

namespace attune::server {

class Tokens {
 public:
  static constexpr double kGoodSeconds = 600;
  static constexpr std::size_t kMostOfAUser = 64;  // a further one takes the place of the oldest

  // Lets in what the standing says, Worker or Tuner.
  std::string hand_out(std::uint32_t uid, jobs::Standing standing, double now);
  // What the token lets in: nothing when it was used, is too old, or another user's.
  std::optional<jobs::Standing> use(const std::string& token, std::uint32_t uid, double now);

 private:
  struct Handed {
    std::uint32_t uid = 0;
    jobs::Standing standing = jobs::Standing::Tuner;
    double until = 0;
  };
  void forget_old(std::uint32_t uid, double now);

  std::mutex mutex_;
  std::map<std::string, Handed> handed_;
};

}  // namespace attune::server
