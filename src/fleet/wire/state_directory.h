// Where a scheduler keeps its state, and where it takes connections. The same directory names it to
// everybody: the scheduler holds `lock` while it lives, and listens at `socket` in it once it
// serves. Nobody but its user may look into that directory. One that is shared with a group listens
// in a second directory as well, which holds nothing else: the name of the first and ".shared".
#pragma once

#include <string>

#include "base/result.h"

namespace attune::wire {

// $XDG_DATA_HOME/attune/scheduler, else ~/.local/share/attune/scheduler.
Result<std::string> default_state_directory();
// The same for given values of XDG_DATA_HOME and HOME, which may be null.
Result<std::string> default_state_directory(const char* xdg_data_home, const char* home);
// As the user named it, made absolute; the default one when empty.
Result<std::string> state_directory(const std::string& given);

std::string lock_path(const std::string& state);
std::string database_path(const std::string& state);
std::string colocation_path(const std::string& state);
// A job's own folder, for its worker.
std::string job_path(const std::string& state, const std::string& job);
// Of files that somebody sent for a job.
std::string upload_path(const std::string& state, const std::string& upload);

// Where those of the group find it.
std::string shared_directory(const std::string& state);
// In the state directory, or in the one that is shared.
std::string socket_path(const std::string& directory);

}  // namespace attune::wire
