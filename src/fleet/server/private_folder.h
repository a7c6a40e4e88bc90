// Folders that are for one user alone, and the one that is shared with a group: who may look into
// them is made so at every start, whatever they were before.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"

namespace attune::server {

// The folder is there, of this user and closed to all others (0700). One that was open to others is
// closed with all that a scheduler makes in it (folders 0700, files 0600); one that has something
// in it and was never a scheduler's is refused as it is.
Status make_private_folder(const std::string& path);

// The number of a group of this machine.
Result<gid_t> find_group(const std::string& name);
// The folder is there, of this user, and only the group may look into it as well (0750).
Status make_shared_folder(const std::string& path, gid_t group);

}  // namespace attune::server
