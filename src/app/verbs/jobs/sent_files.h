// The files of a job for a scheduler of another user, which opens none by their paths: they are
// read here, with the rights of who submits, and sent.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/client/client.h"

namespace attune::verbs {

struct SentJob {
  client::JobRequest request = {};  // names the files as they are sent
  std::vector<client::SentFile> files = {};
};

// The same job, with names in place of paths. Records stay here: what is measured is fetched.
Result<SentJob> with_sent_files(client::JobRequest request);

}  // namespace attune::verbs
