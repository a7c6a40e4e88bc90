// A disk that was told to write and has not yet been told to finish: what may be found on it when
// power fails. Writes that no sync followed are kept, lost, exchanged in their order or torn, each
// by chance; names that no sync of the folder followed may be there or not. What was synced stays.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/rng.h"

namespace attune::test {

// What a disk is told of the files of one folder, in order.
struct DiskEvent {
  enum class Kind { Create, Write, Truncate, Sync, SyncFolder, Delete };
  Kind kind;
  std::string file = {};
  std::uint64_t offset = 0;  // Write; Truncate: the new size
  std::string bytes = {};
};

// By name; what lies on the disk.
using DiskFiles = std::map<std::string, std::string>;

DiskFiles read_files(const std::filesystem::path& folder);
void write_files(const DiskFiles& files, const std::filesystem::path& folder);

// What is found after power failed when all of `events` had been told to a disk that held `before`.
DiskFiles after_power_cut(const DiskFiles& before, std::span<const DiskEvent> events, Rng& rng);

}  // namespace attune::test
