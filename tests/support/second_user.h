// Another user of this machine, for tests of what users may do to each other. Only root can become
// one; a test that needs it is skipped where the suite is not root's.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace attune::test {

inline constexpr uid_t kNobody = 65534;  // and the group of the same number
inline constexpr const char* kNobodysGroup = "nogroup";

// Whether this process can act as that user.
bool has_second_user();
// The command, run as that user.
std::vector<std::string> as_nobody(std::vector<std::string> command);
// That user, who does something in a process of their own and then stays until the object goes. The
// caller must have no other threads, nor have used gRPC.
class Nobody {
 public:
  explicit Nobody(const std::function<std::string()>& act) : Nobody(act, become_nobody) {}
  ~Nobody();
  Nobody(const Nobody&) = delete;
  Nobody& operator=(const Nobody&) = delete;
  // What `act` returned.
  const std::string& said() const { return said_; }

 protected:
  Nobody(const std::function<std::string()>& act, bool (*become)());

 private:
  static bool become_nobody();
  pid_t child_ = -1;
  std::string said_;
};

// Many users of that group, one after the other: whoever acts becomes them by be_user().
class Crowd final : public Nobody {
 public:
  explicit Crowd(const std::function<std::string()>& act) : Nobody(act, join_group) {}

 private:
  static bool join_group();
};
void be_user(uid_t uid);

inline std::string act_as_nobody(const std::function<std::string()>& act) {
  return Nobody(act).said();
}

}  // namespace attune::test

#define ATTUNE_NEEDS_SECOND_USER()                           \
  if (!attune::test::has_second_user())                      \
  GTEST_SKIP() << "only root can become a second user, and " \
                  "only where 'nogroup' is its group"
