// Stages of the book: offered by workers, started when their resources are free, and finished.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "fleet/jobs/book/book.h"
#include "fleet/jobs/book/checks.h"
#include "fleet/jobs/book/number_limits.h"

namespace attune::jobs {
namespace {

constexpr std::uint32_t kHost = 0;
constexpr std::size_t kMostBars = 20'000;
// Kinds of stages that are told apart by name; tuners of others name theirs as they like.
constexpr std::size_t kMostGroups = 200;
constexpr double kLeastSeconds = 1e-3;
// A stage that is offered so soon after the last one finished became ready by its end.
constexpr double kBurstSeconds = 0.005;

bool same_kinds(const google::protobuf::RepeatedPtrField<v1::StageKind>& a,
                const google::protobuf::RepeatedPtrField<v1::StageKind>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const v1::StageKind& left, const v1::StageKind& right) {
                      return left.name() == right.name() && left.pool() == right.pool() &&
                             left.amount() == right.amount() &&
                             left.usual_seconds() == right.usual_seconds();
                    });
}

// Units of its pool; all of them where it does not say.
int amount_of(const v1::StageKind& kind, const BookPool& pool) {
  const auto capacity = static_cast<int>(pool.units.size());
  return kind.amount() <= 0 ? capacity : std::min(kind.amount(), capacity);
}

}  // namespace

std::optional<std::uint32_t> Book::pool_of(const std::string& name) const {
  for (std::uint32_t i = 0; i < options_.pools.size(); ++i) {
    if (options_.pools[i].name == name) return i;
  }
  return std::nullopt;
}

bool Book::keeps_open_kinds(const Entry& entry, const v1::Kinds& kinds) const {
  return std::all_of(entry.stages.begin(), entry.stages.end(), [&](const auto& each) {
    const auto index = static_cast<int>(each.second.kind);
    if (index >= kinds.kinds_size()) return false;
    const v1::StageKind &now = kinds.kinds(index), &before = entry.row.job.kinds(index);
    return now.pool() == before.pool() && now.amount() == before.amount();
  });
}

void Book::take_kinds(Entry& entry, const v1::Kinds& kinds, double now) {
  v1::Job& job = entry.row.job;
  std::vector<double> usual, left;
  std::vector<Need> needs;
  bool left_known = true;
  for (const v1::StageKind& kind : kinds.kinds()) {
    if (!pool_of(kind.pool())) {
      std::vector<std::string> names;
      for (const BookPool& pool : options_.pools) names.push_back(pool.name);
      entry.row.wish = v1::CANCEL;
      order(entry);
      return end(entry, v1::FAILED,
                 fmt::format("its stage '{}' needs '{}', which this scheduler does not have; "
                             "there are {}",
                             kind.name(), kind.pool(), fmt::join(names, ", ")),
                 now);
    }
    usual.push_back(usual_seconds(entry, kind));
    left.push_back(kind.left());
    const std::uint32_t pool = *pool_of(kind.pool());
    needs.push_back({pool, amount_of(kind, options_.pools[pool])});
    left_known = left_known && kind.left() >= 0;
  }
  if (!keeps_open_kinds(entry, kinds)) {
    return refuse(entry.worker, entry.id(), job.epoch(), 0,
                  "stages of a kind that is dropped or moves to another pool are open");
  }
  std::map<std::string, std::int64_t> done;
  for (int i = 0; i < job.kinds_size() && i < job.stages_done_size(); ++i) {
    std::int64_t& count = done[job.kinds(i).name()];
    count = std::min(count + job.stages_done(i), kMostStagesDone);
  }
  // The usual times of a new epoch are news, too: what the scheduler knows is of the last one.
  const bool known =
      entry.kinds_said && !entry.finished.empty() && same_kinds(job.kinds(), kinds.kinds());
  if (!known) scheduler_.set_kinds(entry.index, std::move(usual), std::move(needs));
  scheduler_.set_stages_left(entry.index, left_known ? std::move(left) : std::vector<double>());
  *job.mutable_kinds() = kinds.kinds();
  job.clear_stages_done();
  // Kinds of one name: the first has what all of them did, so that nothing counts twice.
  for (const v1::StageKind& kind : kinds.kinds()) {
    job.add_stages_done(std::exchange(done[kind.name()], 0));
  }
  entry.kinds_said = true;
  relist(entry);
}

void Book::take_offer(WorkerId worker, Entry& entry, const v1::Offer& offered, double now) {
  thinking_.erase(entry.position);
  const v1::Job& job = entry.row.job;
  if (const std::string why = why_no_offer(entry, offered); !why.empty()) {
    return refuse(worker, entry.id(), job.epoch(), offered.stage(), why);
  }
  // Policies that do not coordinate give out more units than there are, and these are numbered.
  const BookPool& pool = options_.pools[*pool_of(job.kinds(offered.kind()).pool())];
  const std::size_t units = std::max<std::size_t>(pool.units.size(), 1);
  if (!options_.policy->coordinated && places_.size() >= std::size_t{kLastUnit} / units) {
    return refuse(worker, entry.id(), job.epoch(), offered.stage(),
                  fmt::format("{} stages run or wait already", places_.size()));
  }
  const double ready_at = now - entry.last_finished <= kBurstSeconds ? entry.last_finished : now;
  const auto [place, is_new] = entry.stages.try_emplace(offered.stage());
  if (!is_new) {  // said again, since it did not hear that it may start
    if (place->second.runs) tell_to_start(entry, offered.stage(), place->second);
    return;
  }
  place->second = {.kind = static_cast<std::uint32_t>(offered.kind()), .ready_at = ready_at};
  if (!entry.paused) offer(entry, offered.stage(), place->second, ready_at);
}

void Book::offer(Entry& entry, std::int64_t number, Stage& stage, double ready_at) {
  const v1::StageKind& kind = entry.row.job.kinds(static_cast<int>(stage.kind));
  const std::uint32_t pool = *pool_of(kind.pool());
  stage.id = scheduler_.offer({.job = entry.index,
                               .kind = stage.kind,
                               .pool = pool,
                               .amount = amount_of(kind, options_.pools[pool]),
                               .group = group_of(entry, kind, pool)},
                              ready_at);
  places_[stage.id] = {entry.position, number};
}

// Wide: it measures on more cores than its device has, or may get one that shares cores with the
// host, so that the host must be quiet meanwhile.
bool Book::is_wide(const Entry& entry, std::uint32_t pool) const {
  if (pool == kHost) return false;
  const auto& host = options_.pools[kHost].units;
  const auto is_short = [&](const std::vector<int>& cores) {
    if (cores.empty()) return false;  // elsewhere
    if (entry.row.job.spec().threads() > static_cast<int>(cores.size())) return true;
    return std::any_of(host.begin(), host.end(), [&](const std::vector<int>& unit) {
      return std::find_first_of(unit.begin(), unit.end(), cores.begin(), cores.end()) != unit.end();
    });
  };
  const auto& units = options_.pools[pool].units;
  return std::any_of(units.begin(), units.end(), is_short);
}

std::uint32_t Book::group_of(const Entry& entry, const v1::StageKind& kind, std::uint32_t pool) {
  const bool wide = is_wide(entry, pool);
  std::string name = wide ? kind.name() + " on all cores" : kind.name();
  if (groups_.size() >= kMostGroups && groups_.count(name) == 0) {
    name = wide ? "others on all cores" : "others";
  }
  const std::uint32_t group =
      groups_.emplace(name, static_cast<std::uint32_t>(groups_.size())).first->second;
  if (!options_.policy->coordinated) return group;
  if (wide && wide_groups_.insert(group).second) {
    for (const std::uint32_t other : host_groups_) scheduler_.forbid(group, other);
    for (const std::uint32_t other : wide_groups_) scheduler_.forbid(group, other);  // and itself
  }
  if (pool == kHost && host_groups_.insert(group).second) {
    for (const std::uint32_t other : wide_groups_) scheduler_.forbid(group, other);
  }
  return group;
}

std::vector<int> Book::cores_of(const Entry& entry, std::uint32_t pool,
                                const std::vector<int>& slots) const {
  const auto& units = options_.pools[pool].units;
  std::set<int> cores;
  for (const int slot : slots) {
    const auto& unit = units[static_cast<std::size_t>(slot) % units.size()];
    cores.insert(unit.begin(), unit.end());
  }
  if (!options_.policy->coordinated) {
    for (const auto& unit : units) cores.insert(unit.begin(), unit.end());
  }
  if (is_wide(entry, pool)) {
    for (const auto& unit : options_.pools[kHost].units) cores.insert(unit.begin(), unit.end());
  }
  return {cores.begin(), cores.end()};
}

void Book::give_out_resources(double now) {
  if (!thinking_.empty() && now < hold_until_) return;
  thinking_.clear();
  for (const Start& begun : scheduler_.dispatch(now)) start(begun, now);
}

void Book::start(const Start& begun, double now) {
  const Place place = places_.at(begun.stage);
  Entry& entry = entries_[place.entry];
  Stage& stage = entry.stages.at(place.stage);
  stage.runs = true;
  stage.started_at = stage.heard_at = now;
  stage.limit_seconds =
      options_.limits.seconds_for(scheduler_.predicted_seconds(entry.index, stage.kind));
  stage.ends_at = now + longest_stage(entry);
  if (!workers_.at(entry.worker).pass.local) touch(entry);  // what it holds may outlive this book
  tell_to_start(entry, place.stage, stage);
}

void Book::tell_to_start(const Entry& entry, std::int64_t number, const Stage& stage) {
  const std::uint32_t pool = *pool_of(entry.row.job.kinds(static_cast<int>(stage.kind)).pool());
  const std::vector<int>& slots = scheduler_.slots_of(stage.id);
  v1::Start& message = *send(entry.worker, !workers_.at(entry.worker).pass.local).mutable_start();
  message.set_job(entry.id());
  message.set_epoch(entry.row.job.epoch());
  message.set_stage(number);
  for (const int core : cores_of(entry, pool, slots)) message.add_cores(core);
  if (pool == kHost) return;
  const BookPool& device = options_.pools[pool];
  message.set_device(fmt::format("{}:{}", device.name, slots.front() % int(device.units.size())));
}

void Book::take_offer_back(Entry& entry, std::int64_t number) {
  const Stage& stage = entry.stages.at(number);
  if (stage.runs) {
    scheduler_.abandon(stage.id);
    touch(entry);
  } else {
    scheduler_.withdraw_stage(stage.id);
  }
  places_.erase(stage.id);
  entry.stages.erase(number);
}

void Book::take_finished(WorkerId worker, Entry& entry, const v1::Finished& finished, double now) {
  v1::Job& job = entry.row.job;
  const auto found = entry.stages.find(finished.stage());
  if (const Status good = check_finished(finished); !good.ok()) {
    return refuse(worker, entry.id(), job.epoch(), finished.stage(), good.error().message);
  }
  // The worker takes its offer back, which may have been admitted meanwhile.
  if (finished.end() == v1::WITHDRAWN) {
    if (found != entry.stages.end()) {
      take_offer_back(entry, finished.stage());
      entry.finished.insert(finished.stage());
    }
    return know(worker, entry, finished.stage());
  }
  if (found == entry.stages.end() || !found->second.runs) {
    if (entry.finished.count(finished.stage()) != 0) return know(worker, entry, finished.stage());
    return refuse(worker, entry.id(), job.epoch(), finished.stage(), "the stage was not started");
  }
  const Stage stage = found->second;
  const v1::StageKind& kind = job.kinds(static_cast<int>(stage.kind));
  StageRow row{.epoch = job.epoch(), .stage = finished.stage(), .end = finished.end()};
  row.bar.set_job(entry.id());
  row.bar.set_kind(kind.name());
  row.bar.set_pool(kind.pool());
  for (const int slot : scheduler_.slots_of(stage.id)) row.bar.add_slots(slot);
  row.bar.set_ready_at(stage.ready_at);
  row.bar.set_started_at(stage.started_at);
  row.bar.set_ended_at(now);
  const double seconds = finished.seconds();
  if (finished.end() == v1::COMPLETED) {
    scheduler_.finish(stage.id, now, seconds);
    const auto index = static_cast<int>(stage.kind);
    job.set_stages_done(index, std::min(job.stages_done(index) + 1, kMostStagesDone));
    if (!entry.row.foreign) {
      finished_so_many(*job.mutable_strikes(), kind.name(), ++entry.completed[kind.name()]);
    }
    if (!entry.row.foreign && experience_.learn_stage(kind.name(), seconds)) {
      spread_usual(kind.name());
    }
  } else {
    scheduler_.abandon(stage.id);
  }
  job.set_attained_seconds(std::min(job.attained_seconds() + seconds, kMostAmount));
  places_.erase(stage.id);
  entry.stages.erase(found);
  entry.finished.insert(finished.stage());
  entry.last_finished = now;
  touch(entry);
  keep_bar(row);
  know(worker, entry, finished.stage());
  if (options_.settle_seconds <= 0) return;
  if (thinking_.empty()) hold_until_ = now + options_.settle_seconds;
  thinking_.insert(entry.position);
}

// To all jobs that have such stages: what one has seen tells how long the others will take. Done
// each time that twice as much is known, so that it costs next to nothing.
void Book::spread_usual(const std::string& name) {
  for (const std::size_t position : staged_) {
    const Entry& entry = entries_[position];
    if (entry.row.foreign) continue;
    const v1::Job& job = entry.row.job;
    for (int i = 0; i < job.kinds_size(); ++i) {
      if (job.kinds(i).name() != name) continue;
      scheduler_.set_usual_seconds(entry.index, static_cast<std::uint32_t>(i),
                                   usual_seconds(entry, job.kinds(i)));
    }
  }
}

double Book::usual_seconds(const Entry& entry, const v1::StageKind& kind) const {
  if (entry.row.foreign) return std::max(kind.usual_seconds(), kLeastSeconds);
  return experience_.stage_seconds(kind.name(), kind.usual_seconds());
}

void Book::recall(const std::vector<StageRow>& rows) {
  for (const StageRow& row : rows) {
    const v1::Bar& bar = row.bar;
    bars_.push_back(bar);
    const auto found = by_id_.find(bar.job());
    if (found == by_id_.end()) continue;
    Entry& entry = entries_[found->second];
    if (!entry.ended() && row.epoch == entry.row.job.epoch()) entry.finished.insert(row.stage);
    if (entry.row.foreign || row.end != v1::COMPLETED) continue;
    const double seconds = bar.ended_at() - bar.started_at();
    if (experience_.learn_stage(bar.kind(), seconds)) spread_usual(bar.kind());
  }
}

void Book::keep_bar(const StageRow& row) {
  effects_.stages.push_back(row);
  bars_.push_back(row.bar);
  if (bars_.size() > kMostBars) bars_.pop_front();
}

void Book::take_progress(Entry& entry, const v1::Progress& progress) {
  v1::Job& job = entry.row.job;
  const auto is_time = [](double ms) { return ms > 0 && is_within(ms, kMostAmount); };
  job.set_trials(std::max<std::int64_t>(progress.trials(), 0));
  tried_so_many(*job.mutable_strikes(), job.trials());
  if (is_time(progress.best_ms())) job.set_best_ms(progress.best_ms());
  if (is_time(progress.default_ms())) job.set_default_ms(progress.default_ms());
  touch(entry);
}

void Book::drop_stages(Entry& entry) {
  thinking_.erase(entry.position);
  for (const auto& [number, stage] : entry.stages) {
    if (stage.runs) scheduler_.abandon(stage.id);
    places_.erase(stage.id);
  }
  scheduler_.withdraw(entry.index);
  entry.stages.clear();
}

Effects Book::settle(double now) {
  for (const std::size_t position : dirty_) relist(entries_[position]);
  give_out_jobs(now);
  give_out_resources(now);
  for (const std::size_t position : dirty_) {
    if (entries_[position].row.report_on_disk) continue;  // it ended, and changes no more
    write_hold(entries_[position]);
    effects_.jobs.push_back(entries_[position].row);
  }
  dirty_.clear();
  return std::exchange(effects_, {});
}

}  // namespace attune::jobs
