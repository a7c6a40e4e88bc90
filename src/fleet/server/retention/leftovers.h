// What lies in the state folder and nobody needs any more: folders of jobs that were forgotten,
// uploads that no job came for, logs that grew too long. Each is removed in a way that a crash in
// the middle of it leaves to the next time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attune::server {

// The names of all folders of jobs.
std::vector<std::string> job_folders(const std::string& state);
// Of all its files; and those of an upload.
std::uint64_t folder_bytes(const std::string& state, const std::string& job);
std::uint64_t upload_bytes(const std::string& state, const std::string& upload);
// False when a worker still has it.
bool remove_job_folder(const std::string& state, const std::string& job);

// How long ago something was written to it or to what lies below it.
double age_of_all_below(const std::string& folder);
// Of all users, those that nothing was added to for so long.
void remove_uploads(const std::string& state, double older_than_seconds);

// Of the logs of workers: of each that is longer than `most_bytes` the last half of that stays, as
// NAME.1; those that nobody wrote to for so long are removed.
void trim_logs(const std::string& state, std::uint64_t most_bytes, double older_than_seconds);

}  // namespace attune::server
