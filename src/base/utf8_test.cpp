#include "base/utf8.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

TEST(Utf8, KeepsText) {
  for (const std::string text : {"", "plain", "größer ≥ 1", "\U0001f600"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
    EXPECT_EQ(as_utf8(text), text);
  }
}

TEST(Utf8, ReplacesWhatIsNone) {
  EXPECT_EQ(as_utf8("a\xff-b"), "a\ufffd-b");
  EXPECT_EQ(as_utf8("\xc3"), "\ufffd");               // cut off
  EXPECT_EQ(as_utf8("\xc0\xaf"), "\ufffd\ufffd");     // longer than needed
  EXPECT_EQ(as_utf8("\xe0\x80\x80").size(), 9u);      // the same
  EXPECT_FALSE(is_utf8("\xed\xa0\x80"));              // half of a pair
  EXPECT_FALSE(is_utf8("\xf4\x90\x80\x80"));          // beyond the last character
  EXPECT_FALSE(is_utf8(std::string_view("ok\x80")));  // no beginning
}

}  // namespace
}  // namespace attune
