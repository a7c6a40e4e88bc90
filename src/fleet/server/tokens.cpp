#include "fleet/server/tokens.h"

#include "fleet/wire/secret.h"

namespace attune::server {

void Tokens::forget_old(std::uint32_t uid, double now) {
  std::erase_if(handed_, [&](const auto& each) { return each.second.until <= now; });
  std::size_t count = 0;
  auto oldest = handed_.end();
  for (auto it = handed_.begin(); it != handed_.end(); ++it) {
    if (it->second.uid != uid) continue;
    ++count;
    if (oldest == handed_.end() || it->second.until < oldest->second.until) oldest = it;
  }
  if (count >= kMostOfAUser) handed_.erase(oldest);
}

std::string Tokens::hand_out(std::uint32_t uid, jobs::Standing standing, double now) {
  const std::lock_guard lock(mutex_);
  forget_old(uid, now);
  std::string token = wire::random_secret();
  handed_[token] = {uid, standing, now + kGoodSeconds};
  return token;
}

std::optional<jobs::Standing> Tokens::use(const std::string& token, std::uint32_t uid, double now) {
  const std::lock_guard lock(mutex_);
  const auto found = handed_.find(token);
  if (found == handed_.end() || found->second.uid != uid) return std::nullopt;
  const Handed handed = found->second;
  handed_.erase(found);
  if (handed.until <= now) return std::nullopt;
  return handed.standing;
}

}  // namespace attune::server
