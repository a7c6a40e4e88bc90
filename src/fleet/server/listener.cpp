#include "fleet/server/listener.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "base/check.h"
#include "fleet/jobs/book/user_limits.h"

namespace attune::server {
namespace {

// When there are no descriptors left: until some are closed.
constexpr auto kPause = std::chrono::milliseconds(20);

ino_t inode_of(int descriptor) {
  struct stat status = {};
  return ::fstat(descriptor, &status) == 0 ? status.st_ino : 0;
}

// Half of the descriptors that this process may have: the rest is for all else.
std::size_t most_connections() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return jobs::kConnectionsOfAUser;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
  constexpr rlim_t kEnough = 8192;
  return static_cast<std::size_t>(std::min(limit.rlim_max, kEnough) / 2);
}

// With one sentence, in the words of HTTP/2: empty settings, and a farewell (RFC 9113, 6.5 and 6.8)
// whose text a client of gRPC is told.
void send_away(int connection, std::string_view why) {
  constexpr unsigned char kSettings = 4, kGoAway = 7, kEnhanceYourCalm = 11;
  constexpr std::size_t kFixed = 8;  // the last stream, and the reason
  std::string said(9, '\0');
  said[3] = kSettings;
  std::string farewell(9 + kFixed, '\0');
  farewell[2] = static_cast<char>(kFixed + why.size());
  farewell[3] = kGoAway;
  farewell.back() = kEnhanceYourCalm;
  said += farewell;
  said += why;
  (void)!::send(connection, said.data(), said.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

Listener::Listener(std::vector<wire::Descriptor> sockets, ListenerOptions options, Take take)
    : sockets_(std::move(sockets)),
      options_(std::move(options)),
      take_(std::move(take)),
      wake_(::eventfd(0, EFD_CLOEXEC)),
      most_in_all_(most_connections()) {
  CHECK(wake_.is_open(), "no event descriptor");
  thread_ = std::thread([this] { run(); });
}

Listener::~Listener() {
  ::eventfd_write(wake_.number(), 1);
  thread_.join();
}

void Listener::run() {
  std::vector<pollfd> waiting{{wake_.number(), POLLIN, 0}};
  for (const wire::Descriptor& socket : sockets_) waiting.push_back({socket.number(), POLLIN, 0});
  for (;;) {
    if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (waiting[0].revents != 0) return;
    for (std::size_t i = 1; i < waiting.size(); ++i) {
      if (waiting[i].revents != 0) accept_from(waiting[i].fd);
    }
  }
}

void Listener::accept_from(int socket) {
  wire::Descriptor made(::accept4(socket, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!made.is_open()) {
    if (errno == EMFILE || errno == ENFILE) std::this_thread::sleep_for(kPause);
    return;
  }
  const std::optional<std::uint32_t> uid = options_.uid_of(made.number());
  if (!uid || (options_.only && *uid != *options_.only)) return;
  if (!in_time(*uid) || !has_room(*uid)) {
    return send_away(made.number(), "this user connects too often, or has too many connections");
  }
  const int number = made.number();
  open_[number] = {*uid, inode_of(number)};
  const Status taken = take_(made, *uid, [this](std::uint32_t asked) {
    forget_closed();
    return std::any_of(open_.begin(), open_.end(),
                       [&](const auto& each) { return each.second.uid == asked; });
  });
  if (taken.ok()) return;
  send_away(number, taken.error().message);
  open_.erase(number);
}

// Who did not connect for a while is as good as new, and need not be remembered.
bool Listener::in_time(std::uint32_t uid) {
  if (uid == ::geteuid()) return true;
  const std::int64_t now_ns = options_.now_ns();
  if (rates_.size() >= jobs::kUsersAtOnce) {
    std::erase_if(rates_, [&](auto& each) { return each.second.is_full(now_ns); });
  }
  return rates_.try_emplace(uid, jobs::kConnectionRate).first->second.admit(now_ns);
}

// Those that were closed meanwhile are seen by their descriptors, which stand for nothing or for
// something else now.
void Listener::forget_closed() {
  std::erase_if(open_, [](const auto& each) { return inode_of(each.first) != each.second.inode; });
}

bool Listener::has_room(std::uint32_t uid) {
  const auto count = [&] {
    return static_cast<std::size_t>(std::count_if(
        open_.begin(), open_.end(), [&](const auto& each) { return each.second.uid == uid; }));
  };
  const auto fits = [&] {
    return uid == ::geteuid() ||
           (open_.size() < most_in_all_ && count() < jobs::kConnectionsOfAUser);
  };
  if (open_.size() < jobs::kConnectionsOfAUser || fits()) return true;
  forget_closed();
  return fits();
}

}  // namespace attune::server
