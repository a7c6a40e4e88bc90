#include "fleet/jobs/book/retention.h"

#include <algorithm>

namespace attune::jobs {

std::vector<std::string> overdue(std::vector<EndedJob> jobs, const Retention& retention,
                                 double now) {
  std::sort(jobs.begin(), jobs.end(), [](const EndedJob& a, const EndedJob& b) {
    return a.ended_at != b.ended_at ? a.ended_at > b.ended_at : a.id > b.id;
  });
  std::size_t kept = 0;
  for (std::uint64_t bytes = 0; kept < jobs.size() && kept < retention.jobs; ++kept) {
    bytes += jobs[kept].bytes;
    if (bytes > retention.bytes || now - jobs[kept].ended_at > retention.seconds) break;
  }
  std::vector<std::string> ids;
  for (std::size_t i = jobs.size(); i-- > kept;) ids.push_back(std::move(jobs[i].id));
  return ids;
}

}  // namespace attune::jobs
