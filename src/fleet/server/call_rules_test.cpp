// Every call of the service has a line in the table of who may do what: the calls are read off the
// class that gRPC generated, so that one that was added shows here.
#include <cxxabi.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <typeinfo>

#include "fleet/jobs/book/access.h"
#include "fleet/wire/jobs.grpc.pb.h"

namespace attune::server {
namespace {

// "attune::v1::Scheduler::WithCallbackMethod_Submit<…>": Submit.
std::string call_of(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  const std::string name = readable ? readable.get() : "";
  const std::string marker = "WithCallbackMethod_";
  const std::size_t at = name.find(marker);
  if (at == name.npos) return "nothing in " + name;
  const std::size_t begin = at + marker.size();
  return name.substr(begin, name.find('<', begin) - begin);
}

// The generated service is one class around another, one for each call.
template <typename Service>
struct Calls {
  static void add_to(std::set<std::string>&) {}
};
template <template <typename> class Method, typename Rest>
struct Calls<Method<Rest>> {
  static void add_to(std::set<std::string>& calls) {
    calls.insert(call_of(typeid(Method<Rest>)));
    Calls<Rest>::add_to(calls);
  }
};

TEST(CallRules, EveryCallHasOne) {
  std::set<std::string> calls, ruled;
  Calls<v1::Scheduler::CallbackService>::add_to(calls);
  for (const jobs::CallRule& rule : jobs::call_rules()) {
    EXPECT_TRUE(ruled.insert(std::string(rule.call)).second) << rule.call << " has two";
  }
  EXPECT_EQ(calls, ruled);
  EXPECT_GE(calls.size(), 8u);
}

TEST(CallRules, ACallWithoutOneIsRefusedToAll) {
  const jobs::Caller root{.uid = 0, .user = "root"}, ann{.uid = 7, .user = "ann"};
  EXPECT_EQ(jobs::check_may_call(root, 0, "Forgotten").error().message,
            "root may not call Forgotten");
  EXPECT_EQ(jobs::check_may_call(ann, 0, "Forgotten").error().message,
            "ann may not call Forgotten");
  for (const jobs::CallRule& rule : jobs::call_rules()) {
    EXPECT_TRUE(jobs::check_may_call(root, 0, rule.call).ok()) << rule.call;
    EXPECT_TRUE(jobs::check_may_call(ann, 0, rule.call).ok()) << rule.call;
  }
}

}  // namespace
}  // namespace attune::server
