#include "fleet/jobs/book/retention.h"

#include <algorithm>
#include <map>
#include <utility>

namespace attune::jobs {
namespace {

bool is_older(const EndedJob& a, const EndedJob& b) {
  return a.ended_at != b.ended_at ? a.ended_at < b.ended_at : a.id < b.id;
}

// The jobs of one user that are still kept, by their places, the oldest first.
struct Kept {
  std::vector<std::size_t> places = {};
  std::size_t next = 0;  // to go
  std::uint64_t bytes = 0;
  std::size_t count() const { return places.size() - next; }
};

// What is looked at: how many there are, or what they take.
using Measure = std::uint64_t (*)(const Kept&);

void shrink(std::map<std::uint32_t, Kept>& users, const std::vector<EndedJob>& jobs,
            std::vector<bool>& goes, Measure measure, std::uint64_t most) {
  std::uint64_t all = 0;
  for (const auto& [uid, kept] : users) all += measure(kept);
  while (all > most) {
    Kept& largest = std::max_element(users.begin(), users.end(), [&](const auto& a, const auto& b) {
                      return measure(a.second) < measure(b.second);
                    })->second;
    all -= measure(largest);
    const std::size_t place = largest.places[largest.next++];
    largest.bytes -= jobs[place].bytes;
    all += measure(largest);
    goes[place] = true;
  }
}

}  // namespace

std::vector<std::string> overdue(std::vector<EndedJob> jobs, const Retention& retention,
                                 double now) {
  std::sort(jobs.begin(), jobs.end(), is_older);
  std::vector<bool> goes(jobs.size());
  std::map<std::uint32_t, Kept> users;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    goes[i] = now - jobs[i].ended_at > retention.seconds;
    if (goes[i]) continue;
    Kept& kept = users[jobs[i].uid];
    kept.places.push_back(i);
    kept.bytes += jobs[i].bytes;
  }
  shrink(
      users, jobs, goes, [](const Kept& kept) { return std::uint64_t{kept.count()}; },
      retention.jobs);
  shrink(
      users, jobs, goes, [](const Kept& kept) { return kept.bytes; }, retention.bytes);
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (goes[i]) ids.push_back(std::move(jobs[i].id));
  }
  return ids;
}

}  // namespace attune::jobs
