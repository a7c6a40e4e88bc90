// What jobs are called. Names are their users' own; of jobs that have not ended no two of a user
// have the same. Nothing here looks at all jobs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace attune::jobs {

class JobNames {
 public:
  using Position = std::size_t;

  // A job, for as long as it is known, and while it has not ended.
  void add(const std::string& name, Position job) { all_[name].insert(job); }
  void remove(const std::string& name, Position job);
  void open(std::uint32_t uid, const std::string& name, Position job);
  void close(std::uint32_t uid, const std::string& name);

  // All that are called so, in the order of their coming.
  const std::set<Position>& called(const std::string& name) const;
  // The user's job of this name that has not ended.
  std::optional<Position> find_open(std::uint32_t uid, const std::string& name) const;
  // How many of the user's jobs have not ended.
  std::size_t open_of(std::uint32_t uid) const;

  // The base, or the base with the least number that is free: "resnet18-2". It is to be opened, or
  // the number is lost until all of that base have ended.
  std::string take_free(std::uint32_t uid, const std::string& base);

 private:
  using Key = std::pair<std::uint32_t, std::string>;
  // Numbers of one base that were given out, 1 being the base itself.
  struct Numbers {
    int next = 1;
    std::set<int> freed = {};  // below next
  };
  void free_number(const Key& base, int number);

  std::unordered_map<std::string, std::set<Position>> all_;
  std::map<Key, Position> open_;
  std::map<std::uint32_t, std::size_t> counts_;
  std::map<Key, Numbers> numbers_;
};

}  // namespace attune::jobs
