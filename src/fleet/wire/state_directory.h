// Where a scheduler keeps its state. The same directory names it to everybody: the scheduler holds
// `lock` while it lives and writes its address once it serves, workers and clients read it there.
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
std::string address_path(const std::string& state);
std::string database_path(const std::string& state);
std::string colocation_path(const std::string& state);
// A job's own folder, for its worker.
std::string job_path(const std::string& state, const std::string& job);

// "127.0.0.1:PORT" of the scheduler that served last; it may be gone by now.
Result<std::string> read_address(const std::string& state);
// Whether somebody takes connections there now.
bool is_served(const std::string& state);

}  // namespace attune::wire
