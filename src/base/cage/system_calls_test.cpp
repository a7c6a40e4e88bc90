#include "base/cage/system_calls.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

namespace attune {
namespace {

TEST(SystemCalls, HaveNamesAndNumbers) {
  EXPECT_EQ(call_number("socket"), SYS_socket);
  EXPECT_EQ(call_name(SYS_socket), "socket");
  EXPECT_EQ(call_name(99999), "system call 99999");
  EXPECT_EQ(call_name(-1), "system call -1");
}

TEST(SystemCalls, SomeExistOnFewArchitecturesOnly) {
#if defined(__x86_64__)
  EXPECT_TRUE(call_number("fork").has_value());
#else
  EXPECT_FALSE(call_number("fork").has_value());
#endif
}

}  // namespace
}  // namespace attune
