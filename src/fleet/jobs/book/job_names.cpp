#include "fleet/jobs/book/job_names.h"

#include <fmt/format.h>

#include <charconv>

namespace attune::jobs {
namespace {

std::string numbered(const std::string& base, int number) {
  return number == 1 ? base : fmt::format("{}-{}", base, number);
}

}  // namespace

void JobNames::remove(const std::string& name, Position job) {
  const auto found = all_.find(name);
  if (found == all_.end()) return;
  found->second.erase(job);
  if (found->second.empty()) all_.erase(found);
}

void JobNames::open(std::uint32_t uid, const std::string& name, Position job) {
  if (open_.insert_or_assign({uid, name}, job).second) ++counts_[uid];
}

void JobNames::close(std::uint32_t uid, const std::string& name) {
  if (open_.erase({uid, name}) == 0) return;
  if (const auto count = counts_.find(uid); --count->second == 0) counts_.erase(count);
  free_number({uid, name}, 1);
  const std::size_t dash = name.rfind('-');
  if (dash == std::string::npos) return;
  int number = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, failure] = std::from_chars(name.data() + dash + 1, end, number);
  if (failure == std::errc() && stop == end) free_number({uid, name.substr(0, dash)}, number);
}

void JobNames::free_number(const Key& base, int number) {
  const auto found = numbers_.find(base);
  if (found == numbers_.end() || number < 1 || number >= found->second.next) return;
  Numbers& numbers = found->second;
  numbers.freed.insert(number);
  if (numbers.freed.size() == static_cast<std::size_t>(numbers.next - 1)) numbers_.erase(found);
}

const std::set<JobNames::Position>& JobNames::called(const std::string& name) const {
  static const std::set<Position> none;
  const auto found = all_.find(name);
  return found == all_.end() ? none : found->second;
}

std::optional<JobNames::Position> JobNames::find_open(std::uint32_t uid,
                                                      const std::string& name) const {
  const auto found = open_.find({uid, name});
  return found == open_.end() ? std::nullopt : std::optional(found->second);
}

std::size_t JobNames::open_of(std::uint32_t uid) const {
  const auto found = counts_.find(uid);
  return found == counts_.end() ? 0 : found->second;
}

std::string JobNames::take_free(std::uint32_t uid, const std::string& base) {
  Numbers& numbers = numbers_[{uid, base}];
  for (;;) {
    int number = numbers.next;
    if (numbers.freed.empty()) {
      ++numbers.next;
    } else {
      number = *numbers.freed.begin();
      numbers.freed.erase(numbers.freed.begin());
    }
    std::string name = numbered(base, number);
    if (!find_open(uid, name)) return name;  // somebody may have named a job so
  }
}

}  // namespace attune::jobs
