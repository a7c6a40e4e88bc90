// Where the files of a job lie. A job of this process's own user names them by their paths. One of
// another user, or one that was submitted with its files, has none but those that were sent: names
// lead nowhere else, since this process may read and write much that the submitter may not.
#pragma once

#include <optional>
#include <string>

#include "app/verbs/jobs/job_options.h"
#include "base/result.h"
#include "fleet/client/overview.h"

namespace attune::job_worker {

class JobFiles {
 public:
  // `folder` is the job's own.
  JobFiles(const client::JobStatus& job, const std::string& folder);

  // Whether results stay in the job's folder, to be fetched.
  bool are_sent() const { return sent_.has_value(); }

  // What to tune: a name or spec as it is, a file by its whole path.
  Result<std::string> model(const std::string& named) const;
  // The same for all that the options name.
  Result<verbs::JobOptions> options(verbs::JobOptions named) const;

 private:
  Result<std::string> sent_file(const std::string& name) const;

  std::optional<std::string> sent_;  // their folder; empty: none were
};

}  // namespace attune::job_worker
