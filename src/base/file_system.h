// Whether a file lies on this machine's own disks. Databases must: over a network neither locks nor
// shared memory hold between machines, and "synced" may mean that somebody else was told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attune {

// What serves the file, "nfs" for instance, or the nearest folder above it that is there; nothing
// when that is this machine, or when the system does not say. $ATTUNE_FILE_SYSTEM has the last
// word: "local", or such a name.
std::optional<std::string> network_file_system(const std::string& path);

// The same by what the system says: the number of the kind (statfs), the device (stat), and its
// list of mounts (/proc/self/mountinfo), for kinds that one number stands for.
std::optional<std::string> network_file_system(std::uint32_t kind, std::uint64_t device,
                                               std::string_view mounts);

}  // namespace attune
