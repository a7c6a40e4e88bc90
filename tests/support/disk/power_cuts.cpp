#include "tests/support/disk/power_cuts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "base/sqlite/database.h"
#include "base/temporary_directory_testing.h"

namespace attune::test {
namespace {

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kMostFindings = 5;

std::size_t choose_cut(const UnsyncedVfs& disk, const Account& account, Rng& rng) {
  const std::vector<std::size_t> acknowledged = account.acknowledgements();
  if (!acknowledged.empty() && rng.chance(0.5)) return acknowledged[rng.below(acknowledged.size())];
  return rng.below(disk.position() + 1);
}

// A folder of its own, so that what is found stays as it is.
std::string content_of(const Subject& subject, const DiskFiles& files) {
  const TemporaryDirectory folder;
  write_files(files, folder.path());
  return subject.content(folder.path());
}

// Where two contents part, in short.
std::string difference(const std::string& found, const std::vector<std::string>& allowed) {
  const std::string& wanted = allowed.front();
  const auto [a, b] = std::mismatch(found.begin(), found.end(), wanted.begin(), wanted.end());
  return fmt::format("found '{:.60}', acknowledged '{:.60}'", std::string(a, found.end()),
                     std::string(b, wanted.end()));
}

}  // namespace

Account::Account(const UnsyncedVfs& disk, std::string content) : disk_(disk) {
  steps_.push_back({0, 0, std::move(content)});
}

std::size_t Account::begin() {
  const std::lock_guard lock(mutex_);
  steps_.push_back({disk_.position(), kNever, {}});
  return steps_.size() - 1;
}

void Account::acknowledge(std::size_t step) {
  const std::lock_guard lock(mutex_);
  steps_[step].acknowledged = disk_.position();
}

void Account::now(std::size_t step, std::string content) {
  const std::lock_guard lock(mutex_);
  steps_[step].content = std::move(content);
}

std::vector<std::string> Account::allowed_at(std::size_t position) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> allowed;
  for (const Step& step : steps_) {
    if (step.begun > position) break;
    if (step.acknowledged <= position) allowed.clear();
    allowed.push_back(step.content);
  }
  return allowed;
}

std::vector<std::size_t> Account::acknowledgements() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::size_t> positions;
  for (const Step& step : steps_) {
    if (step.acknowledged != kNever) positions.push_back(step.acknowledged);
  }
  return positions;
}

PowerCuts cut_power(const Subject& subject, std::uint64_t seed, VfsOptions options) {
  Rng rng(seed);
  PowerCuts report;
  DiskFiles files;
  {
    const TemporaryDirectory folder;
    subject.prepare(folder.path(), rng);
    files = read_files(folder.path());
  }
  std::string content = content_of(subject, files);
  const std::uint64_t lives = 1 + rng.below(3);
  for (std::uint64_t life = 0; life < lives && report.findings.empty(); ++life) {
    const TemporaryDirectory folder;
    write_files(files, folder.path());
    if (options.checkpoint_pages == 0 || life > 0) {
      options.checkpoint_pages = rng.chance(0.3) ? 1000 : static_cast<int>(rng.between(2, 60));
    }
    const UnsyncedVfs disk(folder.path(), options);
    Account account(disk, content);
    subject.live(folder.path(), rng, account);
    const std::size_t cut = choose_cut(disk, account, rng);
    files = disk.after_power_cut(cut, rng);
    const std::vector<std::string> allowed = account.allowed_at(cut);
    report.cuts += 1;
    report.steps += account.acknowledgements().size();
    report.unsafe_steps += allowed.size() - 1;
    content = content_of(subject, files);
    if (std::find(allowed.begin(), allowed.end(), content) == allowed.end()) {
      report.findings.push_back(fmt::format("seed {}, life {}, power cut at {} of {}: {}", seed,
                                            life, cut, disk.position(),
                                            difference(content, allowed)));
    }
  }
  return report;
}

PowerCuts cut_power_often(const Subject& subject) {
  const char* wish = std::getenv("ATTUNE_POWER_CUTS");
  const std::uint64_t seeds = wish == nullptr ? 100 : std::strtoull(wish, nullptr, 10);
  PowerCuts all;
  for (std::uint64_t seed = 1; seed <= seeds && all.findings.size() < kMostFindings; ++seed) {
    const PowerCuts one = cut_power(subject, seed);
    all.cuts += one.cuts;
    all.steps += one.steps;
    all.unsafe_steps += one.unsafe_steps;
    all.findings.insert(all.findings.end(), one.findings.begin(), one.findings.end());
  }
  fmt::print("{} seeds: power was cut {} times, {} steps acknowledged, {} in between\n", seeds,
             all.cuts, all.steps, all.unsafe_steps);
  return all;
}

void expect_nothing_lost(const Subject& subject) {
  const PowerCuts cuts = cut_power_often(subject);
  for (const std::string& finding : cuts.findings) ADD_FAILURE() << finding;
  EXPECT_GT(cuts.unsafe_steps, cuts.cuts / 10) << "power hardly ever failed in the middle";
}

void expect_nothing_lost_without_log(const Subject& subject) {
  Subject fresh = subject;
  fresh.prepare = [](const std::filesystem::path&, Rng&) {};
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const PowerCuts cuts = cut_power(fresh, seed, {.shared_memory = false});
    for (const std::string& finding : cuts.findings) ADD_FAILURE() << finding;
  }
}

void expect_losses_without_syncs(const Subject& subject) {
  std::size_t found = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    found += cut_power(subject, seed, {.honest = false}).findings.size();
  }
  EXPECT_GT(found, 10u);
}

std::string integrity_of(const std::string& path) {
  using Access = sqlite::Database::Access;
  auto database = sqlite::Database::open_file(path, Access::Read, {});
  if (!database.ok()) return database.error().message;
  const auto verdict = database->text("PRAGMA integrity_check");
  return verdict.ok() ? *verdict : verdict.error().message;
}

}  // namespace attune::test
