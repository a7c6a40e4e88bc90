// What a server asks of the system that it runs on, in one place: tests answer in its stead.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/sync_folder.h"
#include "fleet/server/unix_clock.h"
#include "fleet/wire/unix_socket.h"
#include "fleet/wire/user_name.h"

namespace attune::server {

struct Surroundings {
  UnixClock clock = UnixClock();
  std::function<Status(const std::string& path)> sync_file = attune::sync_file;  // that is sent
  // Whose a connection is, and whether that user is one of this machine.
  std::function<std::optional<std::uint32_t>(int connection)> uid_of = wire::uid_of;
  std::function<bool(std::uint32_t uid)> is_known_user = wire::is_known_user;
  std::function<void()> looked = {};  // is told when it was looked what is to be forgotten
};

}  // namespace attune::server
