// Power that fails at random while a program keeps a file: what was acknowledged must be there
// afterwards, and nothing half, twice or other than it was. A program lives, its power is cut at
// some point of what it told the disk, and another begins with what the disk holds, and so on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/rng.h"
#include "tests/support/disk/unsynced_vfs.h"

namespace attune::test {

// What one life did: its steps, in the order in which they must be found.
class Account {
 public:
  Account(const UnsyncedVfs& disk, std::string content);

  std::size_t begin();                              // of a step; its number
  void acknowledge(std::size_t step);               // it was said to be safe
  void now(std::size_t step, std::string content);  // what the file holds with it and all before

  // The contents that may be found when power fails there: from the last step that had been
  // acknowledged to the last that had begun.
  std::vector<std::string> allowed_at(std::size_t position) const;
  // Where a loss shows best: when something has just been acknowledged.
  std::vector<std::size_t> acknowledgements() const;

 private:
  struct Step {
    std::size_t begun, acknowledged;
    std::string content;
  };
  const UnsyncedVfs& disk_;
  mutable std::mutex mutex_;
  std::vector<Step> steps_;
};

struct Subject {
  // Files to begin with, by chance those of an earlier program.
  std::function<void(const std::filesystem::path& folder, Rng&)> prepare;
  // Opens the file as the program does, to write, and says what it holds, or what is wrong.
  std::function<std::string(const std::filesystem::path& folder)> content;
  std::function<void(const std::filesystem::path& folder, Rng&, Account&)> live;
};

struct PowerCuts {
  std::size_t cuts = 0, steps = 0, unsafe_steps = 0;  // unsafe: begun and not acknowledged
  std::vector<std::string> findings;                  // a line each
};
PowerCuts cut_power(const Subject& subject, std::uint64_t seed, VfsOptions options = {});

// Seeds from 1 to $ATTUNE_POWER_CUTS (100 unless set); the first findings, and how much was tried.
PowerCuts cut_power_often(const Subject& subject);

// What a test asks of a subject: nothing is lost, neither where SQLite has no shared memory and
// thus no write-ahead log; and on a disk that syncs nothing, losses are found.
void expect_nothing_lost(const Subject& subject);
void expect_nothing_lost_without_log(const Subject& subject);
void expect_losses_without_syncs(const Subject& subject);

// What SQLite says of a file that nobody has open: "ok".
std::string integrity_of(const std::string& path);

}  // namespace attune::test
