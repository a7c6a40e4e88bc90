#include "tests/support/second_user.h"

#include <grp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/check.h"

namespace attune::test {

bool has_second_user() {
  const group* entry = ::getgrnam(kNobodysGroup);
  return ::geteuid() == 0 && entry != nullptr && entry->gr_gid == kNobody;
}

std::vector<std::string> as_nobody(std::vector<std::string> command) {
  const std::string number = std::to_string(kNobody);
  command.insert(command.begin(),
                 {"setpriv", "--reuid=" + number, "--regid=" + number, "--clear-groups"});
  return command;
}

bool Nobody::become_nobody() {
  return ::setgroups(0, nullptr) == 0 && ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0 &&
         ::setuid(0) != 0;
}

bool Crowd::join_group() { return ::setgroups(0, nullptr) == 0 && ::setgid(kNobody) == 0; }

void be_user(uid_t uid) {
  CHECK(::seteuid(0) == 0 && ::seteuid(uid) == 0, "only root can become somebody");
}

Nobody::Nobody(const std::function<std::string()>& act, bool (*become)()) {
  int ends[2] = {};
  CHECK(::pipe(ends) == 0, "no pipe");
  child_ = ::fork();
  CHECK(child_ >= 0, "no process");
  if (child_ == 0) {
    const std::string said = become() ? act() : "this process is still root";
    for (std::size_t at = 0; at < said.size();) {
      const ssize_t some = ::write(ends[1], said.data() + at, said.size() - at);
      if (some <= 0) break;
      at += static_cast<std::size_t>(some);
    }
    ::close(ends[1]);
    for (;;) ::pause();
  }
  ::close(ends[1]);
  std::array<char, 4096> piece;
  for (ssize_t size; (size = ::read(ends[0], piece.data(), piece.size())) > 0;) {
    said_.append(piece.data(), static_cast<std::size_t>(size));
  }
  ::close(ends[0]);
}

Nobody::~Nobody() {
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
}

}  // namespace attune::test
