// The file system as SQLite sees it, with an account of what it told the disk: while one of these
// lives, databases of this process that lie in its folder are kept on an UnsyncedDisk. SQLite and
// the program that uses it are the real ones; nothing is forced to the real disk.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

#include "tests/support/disk/unsynced_disk.h"

namespace attune::test {

struct VfsOptions {
  bool honest = true;         // false: a disk that says "synced" and is not
  bool shared_memory = true;  // false: a file system without it, so without write-ahead logs
  int checkpoint_pages = 0;  // how long the log grows before it is taken over; 0: SQLite's own rule
};

class UnsyncedVfs {
 public:
  // What lies in the folder now is on the disk. One at a time.
  explicit UnsyncedVfs(std::filesystem::path folder, VfsOptions options = {});
  // All databases are closed by then.
  ~UnsyncedVfs();
  UnsyncedVfs(const UnsyncedVfs&) = delete;
  UnsyncedVfs& operator=(const UnsyncedVfs&) = delete;

  // How much the disk was told; a point at which power may fail. From any thread.
  std::size_t position() const;
  // What is found when power failed there.
  DiskFiles after_power_cut(std::size_t position, Rng& rng) const;

  struct Shared;  // with SQLite

 private:
  std::unique_ptr<Shared> shared_;
};

}  // namespace attune::test
