#include "runtime/format/json.h"

#include <gtest/gtest.h>

namespace attune::runtime {
namespace {

std::string round_trip(const std::string& text) {
  const auto value = parse_json(text);
  return value.ok() ? to_text(*value) : value.error().message;
}

TEST(Json, RoundTrips) {
  for (const char* text :
       {"null", "true", "false", "0", "-7", "9223372036854775807", "-9223372036854775808", "1.5",
        "1e+300", "0.1", "2.0", R"("")", R"("a\"b\\c")", "[]", "[1,[2,[]]]", "{}",
        R"({"a":1,"b":[true,null],"c":{"d":"e"}})"}) {
    EXPECT_EQ(round_trip(text), text);
  }
  EXPECT_EQ(round_trip(" { \"a\" : [ 1 , 2 ] } \n"), R"({"a":[1,2]})");
  EXPECT_EQ(round_trip(R"("\u0041\u00e9\ud83d\ude00\n")"), "\"A\u00e9\U0001F600\\u000a\"");
  EXPECT_EQ(to_text(Json(std::string("tab\t"))), R"("tab\u0009")");
}

TEST(Json, RefusesEverythingElse) {
  EXPECT_EQ(round_trip(""), "malformed JSON at byte 0: a value is missing or not a number");
  EXPECT_EQ(round_trip("{\"a\":}"), "malformed JSON at byte 5: a value is missing or not a number");
  EXPECT_EQ(round_trip("[1 2]"), "malformed JSON at byte 3: ',' or ']' is missing");
  EXPECT_EQ(round_trip("1 x"), "malformed JSON at byte 2: text after the end");
  EXPECT_EQ(round_trip("\"abc"), "malformed JSON at byte 4: a string has no end");
  EXPECT_EQ(round_trip("\"\\ud800x\""), "malformed JSON at byte 7: half a surrogate pair");
  EXPECT_EQ(round_trip("{\"a\" 1}"), "malformed JSON at byte 5: ':' is missing");
  EXPECT_EQ(round_trip("tru"), "malformed JSON at byte 0: unknown word");
  EXPECT_EQ(round_trip(std::string(100000, '[')), "malformed JSON at byte 161: nested too deeply");
  for (const char* text : {"-", "1e", "--1", "0x1", "[1,]", "{,}", "\"\\x\"", "\"\\u12\"", "nul"}) {
    EXPECT_FALSE(parse_json(text).ok()) << text;
  }
}

TEST(Json, FindsMembers) {
  const auto value = parse_json(R"({"a":1,"b":"x"})");
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(*value->find("a")->get<std::int64_t>(), 1);
  EXPECT_EQ(*value->find("b")->get<std::string>(), "x");
  EXPECT_EQ(value->find("c"), nullptr);
  EXPECT_EQ(value->find("a")->find("x"), nullptr);
}

}  // namespace
}  // namespace attune::runtime
