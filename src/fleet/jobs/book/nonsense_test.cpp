// What other programs say may be wrong in every way; the book refuses it, and keeps its own
// counsel.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "base/rng.h"
#include "fleet/jobs/book/book_testing.h"
#include "fleet/jobs/policies/policies.h"

namespace attune::jobs {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The only answer.
v1::Refused refusal(Book& book, double now) {
  const Effects effects = book.settle(now);
  EXPECT_EQ(effects.messages.size(), 1u);
  return effects.messages.empty() ? v1::Refused() : effects.messages[0].what.refused();
}

TEST(Nonsense, KindsWithNumbersThatAreNoneAreRefused) {
  Book book = one_running();
  v1::FromWorker bad = kinds("j1", 1);
  bad.mutable_kinds()->mutable_kinds(1)->set_usual_seconds(kNan);
  book.said(1, bad, 1);
  EXPECT_EQ(refusal(book, 1).why(),
            "stages 'profile' usually take nan s, must be from 0 to 10000000");
  for (const double seconds : {kInfinity, -1.0, 1e300}) {
    bad.mutable_kinds()->mutable_kinds(1)->set_usual_seconds(seconds);
    book.said(1, bad, 1);
    EXPECT_TRUE(refusal(book, 1).why().starts_with("stages 'profile' usually take ")) << seconds;
  }
  bad = kinds("j1", 1);
  for (const double left : {kNan, kInfinity, -kInfinity, 1e300}) {
    bad.mutable_kinds()->mutable_kinds(0)->set_left(left);
    book.said(1, bad, 1);
    EXPECT_TRUE(refusal(book, 1).why().starts_with("of stages 'build' ")) << left;
  }
  // What was said before still holds.
  book.said(1, offer("j1", 1, 8, 0), 2);
  EXPECT_EQ(book.settle(2).messages[0].what.start().stage(), 8);
  EXPECT_TRUE(std::isfinite(job_of(book, "a", 2).predicted_end()));
}

TEST(Nonsense, AnEndThatIsNoneIsRefused) {
  Book book = one_running();
  v1::FromWorker bad = finished("j1", 1, 7);
  bad.mutable_finished()->set_seconds(kNan);
  book.said(1, bad, 1);
  EXPECT_EQ(refusal(book, 1).why(), "the stage took nan s, must be from 0 to 10000000");
  bad.mutable_finished()->set_seconds(-2);
  book.said(1, bad, 1);
  EXPECT_EQ(refusal(book, 1).why(), "the stage took -2 s, must be from 0 to 10000000");
  bad.mutable_finished()->set_seconds(1);
  bad.mutable_finished()->set_end(static_cast<v1::StageEnd>(17));
  book.said(1, bad, 1);
  EXPECT_EQ(refusal(book, 1).why(), "there is no end 17 of a stage");
  book.said(1, finished("j1", 1, 7), 2);
  EXPECT_EQ(book.settle(2).messages[0].what.known().stage(), 7);
}

TEST(Nonsense, AWithdrawnOfferIsNeitherDoneNorCounted) {
  Book book = one_running();
  v1::FromWorker withdrawn = finished("j1", 1, 7);
  withdrawn.mutable_finished()->set_end(v1::WITHDRAWN);
  book.said(1, withdrawn, 1);
  Effects effects = book.settle(1);
  EXPECT_EQ(effects.messages[0].what.known().stage(), 7);
  EXPECT_TRUE(effects.stages.empty());
  EXPECT_EQ(book.snapshot(kMe, {}, 1)->pools(1).used(), 0);
  EXPECT_EQ(job_of(book, "a", 1).stages_done(1), 0);
  // What took no time is done nevertheless.
  book.said(1, offer("j1", 1, 8, 1), 2);
  book.settle(2);
  v1::FromWorker quick = finished("j1", 1, 8);
  quick.mutable_finished()->set_seconds(0);
  book.said(1, quick, 2);
  EXPECT_EQ(book.settle(2).stages.size(), 1u);
  EXPECT_EQ(job_of(book, "a", 2).stages_done(1), 1);
}

TEST(Nonsense, OffersBeforeTheKindsOfTheEpochAreRefused) {
  Book first = one_running();
  first.said(1, finished("j1", 1, 7), 1);
  Book book(options(), first.settle(1).jobs, 100);
  book.joined(1, kLocal, 100);
  book.said(1, hello(), 100);
  book.settle(100);
  book.said(1, offer("j1", 2, 1, 1), 100);
  EXPECT_EQ(refusal(book, 100).why(), "the job has not said its kinds of stages");
  book.said(1, kinds("j1", 2), 100);
  book.said(1, offer("j1", 2, -1, 1), 100);
  EXPECT_EQ(refusal(book, 100).why(), "stages are numbered from 0, not -1");
  book.said(1, offer("j1", 2, 1, 1), 100);
  EXPECT_TRUE(book.settle(100).messages[0].what.has_start());
}

TEST(Nonsense, KindsOfOpenStagesStayWhereTheyAre) {
  Book book = one_running();
  v1::FromWorker moved = kinds("j1", 1);
  moved.mutable_kinds()->mutable_kinds(1)->set_pool("host");
  book.said(1, moved, 1);
  EXPECT_EQ(refusal(book, 1).why(),
            "stages of a kind that is dropped or moves to another pool are open");
  v1::FromWorker fewer = kinds("j1", 1);
  fewer.mutable_kinds()->mutable_kinds()->RemoveLast();
  book.said(1, fewer, 1);
  EXPECT_FALSE(refusal(book, 1).why().empty());
}

TEST(Nonsense, HelloIsSaidOnce) {
  Book book = one_running();
  book.said(1, hello("2"), 1);
  EXPECT_EQ(refusal(book, 1).why(), "hello was said already");
  book.said(1, ended("j1", 1, static_cast<v1::JobState>(99)), 2);
  EXPECT_EQ(book.settle(2).messages[0].what.known().stage(), -1);
  EXPECT_EQ(job_of(book, "a", 2).state(), v1::FAILED);
}

TEST(Nonsense, ASubmittedJobCannotBeRegistered) {
  Book book(options(), {}, 0);
  ASSERT_TRUE(book.submit(kMe, request("a", "key"), 0).ok());
  book.joined(1, kElsewhere, 0);
  v1::FromWorker brings_its_own = hello();
  brings_its_own.mutable_hello()->set_takes_jobs(false);
  book.said(1, brings_its_own, 0);
  book.settle(0);
  v1::FromWorker registration;
  registration.mutable_register_()->set_idempotency_key("key");
  book.said(1, registration, 0);
  const v1::Refused refused = refusal(book, 0);
  EXPECT_EQ(refused.why(), "a job that was submitted has this key, another tuner cannot have it");
  EXPECT_EQ(refused.stage(), -2);
  registration.mutable_register_()->set_idempotency_key("mine");
  registration.mutable_register_()->add_kinds()->set_left(kNan);
  book.said(1, registration, 0);
  EXPECT_EQ(refusal(book, 0).why(), "of stages '' nan are to come, must be at most 10000000");
  EXPECT_EQ(book.snapshot(kMe, {}, 0)->jobs_size(), 1);
}

TEST(Nonsense, UnknownWishesAreRefused) {
  Book book = one_running();
  EXPECT_EQ(book.control(kMe, wish("a", static_cast<v1::Wish>(9)), 1).error().message,
            "there is no wish 9");
}

// Somebody says anything at all, while an honest worker does its work.
class Babel {
 public:
  Babel(std::uint64_t seed, const Policy& policy) : rng_(seed), policy_(policy) {
    open({});
    v1::SubmitRequest asked = request("honest", "honest");
    asked.mutable_spec()->set_user("ann");
    EXPECT_TRUE(book_->submit(kMe, asked, now_).ok());
  }

  void step() {
    now_ += rng_.uniform();
    if (rng_.chance(0.05)) come_and_go();
    if (rng_.chance(0.002)) restart();
    if (rng_.chance(0.05)) ask();
    for (const WorkerId liar : liars_) book_->said(liar, anything(liar), now_);
    honest_beats();
    book_->time_passed(now_);
    carry_out();
    check();
  }
  // Nobody lies any more.
  void end() {
    for (const WorkerId liar : liars_) book_->left(liar, now_);
    liars_.clear();
    now_ += 100;
    for (int i = 0; i < 400; ++i) {
      now_ += 0.1;
      honest_beats();
      book_->time_passed(now_);
      carry_out();
    }
    check();
    EXPECT_EQ(job_of(*book_, "j1", now_).state(), v1::DONE) << job_of(*book_, "j1", now_).reason();
  }
  int honest_starts() const { return honest_starts_; }
  int other_starts() const { return other_starts_; }

 private:
  void open(const std::vector<JobRow>& rows) {
    BookOptions with = options(policy_.name);
    with.pools = {{"host", {{0}, {1}}}, {"cpu", {{2}, {3}}}, {"gpu", {{}}}};
    with.quotas = {{"ann", 1}};
    with.settle_seconds = 0.002;
    book_.emplace(with, rows, now_);
    honest_ = next_++;
    book_->joined(honest_, kLocal, now_);
    book_->said(honest_, hello(), now_);
  }
  void restart() {
    std::vector<JobRow> rows;
    for (const auto& [number, row] : disk_) rows.push_back(row);
    liars_.clear();
    open(rows);
  }
  void come_and_go() {
    if (liars_.size() > 3) {
      book_->left(liars_.front(), now_);
      liars_.erase(liars_.begin());
    }
    liars_.push_back(next_++);
    book_->joined(liars_.back(), kElsewhere, now_);
    if (rng_.chance(0.9)) book_->said(liars_.back(), some_hello(), now_);
  }
  void ask() {
    v1::SubmitRequest asked = request("", one_of<const char*>({"", "x", "y"}));
    *asked.mutable_spec() = some_spec();
    (void)book_->submit(kMe, asked, now_);
    const auto wished = static_cast<v1::Wish>(rng_.below(6));
    const std::string job = some_job();
    if (job != "j1") (void)book_->control(kMe, wish(job, wished), now_);
  }

  template <typename T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[rng_.below(values.size())];
  }
  double number() {
    return one_of<double>(
        {0, 1, 2.5, 40, -1, kNan, kInfinity, -kInfinity, 1e308, 1e-308, 1e7, 1e9, -1e300});
  }
  int whole() { return one_of<int>({-1, 0, 1, 1, 2, 3, 7, 1 << 30}); }
  std::string some_job() { return "j" + std::to_string(1 + rng_.below(8)); }
  v1::JobSpec some_spec() {
    v1::JobSpec spec;
    spec.set_model("m");
    spec.set_user(one_of<const char*>({"", "ann", "bob"}));
    spec.set_device(one_of<const char*>({"", "cpu", "gpu", "none"}));
    if (rng_.chance(0.3)) spec.set_priority(number());
    if (rng_.chance(0.3)) spec.set_seconds(number());
    if (rng_.chance(0.3)) spec.set_trials(whole());
    if (rng_.chance(0.3)) spec.set_threads(whole());
    if (rng_.chance(0.3)) spec.set_prefetch(whole());
    return spec;
  }
  v1::StageKind some_kind(bool good) {
    v1::StageKind kind;
    kind.set_name(one_of<const char*>({"", "build", "profile", "odd"}));
    kind.set_pool(one_of<const char*>({"host", "cpu", "gpu", good ? "cpu" : "none"}));
    kind.set_amount(whole());
    kind.set_usual_seconds(good ? 1 : number());
    kind.set_left(good ? 3 : number());
    return kind;
  }
  v1::FromWorker some_hello() {
    v1::FromWorker message = hello(rng_.chance(0.9) ? "1" : "2");
    message.mutable_hello()->set_devices(0, "gpu");
    message.mutable_hello()->set_takes_jobs(rng_.chance(0.5));
    for (std::uint64_t i = rng_.below(3); i > 0; --i) {
      v1::Holding& holding = *message.mutable_hello()->add_holds();
      holding.set_job(some_job());
      holding.set_epoch(whole());
    }
    return message;
  }
  // Mostly of the job that it was told of last.
  v1::FromWorker anything(WorkerId liar) {
    std::string job = some_job();
    std::int64_t epoch = whole(), stage = one_of<int>({-2, -1, 0, 1, 2, 3, 4, 5, 6, 7});
    if (own_.count(liar) != 0 && rng_.chance(0.8)) std::tie(job, epoch) = own_[liar];
    const bool good = rng_.chance(0.9);
    v1::FromWorker message;
    switch (rng_.below(9)) {
      case 0:
        return rng_.chance(0.1) ? some_hello() : message;
      case 1:
        message = kinds(job, epoch);
        message.mutable_kinds()->clear_kinds();
        for (std::uint64_t i = rng_.below(4); i > 0; --i) {
          *message.mutable_kinds()->add_kinds() = some_kind(good);
        }
        return message;
      case 2:
        message = finished(job, epoch, stage);
        message.mutable_finished()->set_seconds(good ? 1 : number());
        message.mutable_finished()->set_end(static_cast<v1::StageEnd>(rng_.below(6)));
        return message;
      case 3:
        message.mutable_progress()->set_job(job);
        message.mutable_progress()->set_epoch(epoch);
        message.mutable_progress()->set_trials(whole());
        message.mutable_progress()->set_best_ms(number());
        message.mutable_progress()->set_default_ms(number());
        return message;
      case 4:
        if (rng_.chance(0.7)) return message;
        return ended(job, epoch, static_cast<v1::JobState>(rng_.below(10)));
      case 5:
        *message.mutable_register_()->mutable_spec() = some_spec();
        message.mutable_register_()->set_idempotency_key(
            one_of<const char*>({"", "honest", "x", "y", "z"}));
        for (std::uint64_t i = rng_.below(4); i > 0; --i) {
          *message.mutable_register_()->add_kinds() = some_kind(good);
        }
        return message;
      case 6:
        return alive(job, epoch, stage);
      default:
        return offer(job, epoch, stage, whole());
    }
  }

  void honest_beats() {
    v1::FromWorker beat;
    beat.mutable_beat();
    book_->said(honest_, beat, now_);
  }
  // Three stages of each job that it gets.
  void hear(const v1::ToWorker& what) {
    if (what.has_assign()) {
      const v1::Job& job = what.assign().job();
      book_->said(honest_, kinds(job.id(), job.epoch()), now_);
      book_->said(honest_, offer(job.id(), job.epoch(), 1, 0), now_);
    } else if (what.has_start()) {
      const v1::Start& start = what.start();
      book_->said(honest_, finished(start.job(), start.epoch(), start.stage()), now_);
      book_->said(honest_,
                  start.stage() == 3
                      ? ended(start.job(), start.epoch(), v1::DONE)
                      : offer(start.job(), start.epoch(), start.stage() + 1, start.stage() % 2),
                  now_);
    } else if (what.has_order() && what.order().wish() == v1::CANCEL) {
      book_->said(honest_, ended(what.order().job(), what.order().epoch(), v1::CANCELLED), now_);
    }
  }
  void carry_out() {
    const Effects effects = book_->settle(now_);
    for (const JobRow& row : effects.jobs) disk_[row.number] = row;
    std::erase_if(liars_, [&](WorkerId liar) { return !book_->knows_worker(liar); });
    ASSERT_TRUE(book_->knows_worker(honest_));
    for (const Message& message : effects.messages) {
      if (message.what.has_start()) ++(message.worker == honest_ ? honest_starts_ : other_starts_);
      if (message.worker == honest_) hear(message.what);
      const v1::ToWorker& what = message.what;
      if (what.has_assign()) {
        own_[message.worker] = {what.assign().job().id(), what.assign().job().epoch()};
      } else if (what.has_known() && what.known().stage() == -2) {
        own_[message.worker] = {what.known().job(), what.known().epoch()};
      }
    }
  }
  void check() {
    v1::ListRequest all;
    all.set_with_bars(true);
    const auto snapshot = book_->snapshot(kMe, all, now_);
    ASSERT_TRUE(snapshot.ok());
    for (const v1::PoolState& pool : snapshot->pools()) {
      EXPECT_GE(pool.used(), 0);
      EXPECT_TRUE(!policy_.coordinated || pool.used() <= pool.capacity()) << pool.used();
      EXPECT_TRUE(pool.utilisation() >= 0 && pool.utilisation() <= 1) << pool.utilisation();
    }
    for (const v1::Job& job : snapshot->jobs()) {
      EXPECT_TRUE(v1::JobState_IsValid(job.state()));
      for (const double value : {job.predicted_end(), job.attained_seconds(), job.best_ms()}) {
        EXPECT_TRUE(std::isfinite(value) && value >= 0) << job.id() << ": " << value;
      }
    }
    EXPECT_FALSE(std::isnan(book_->next_deadline()));
  }

  Rng rng_;
  const Policy& policy_;
  double now_ = 1000;
  std::optional<Book> book_;
  WorkerId next_ = 1, honest_ = 0;
  std::vector<WorkerId> liars_;
  std::map<WorkerId, std::pair<std::string, std::int64_t>> own_;  // job and epoch
  std::map<std::int64_t, JobRow> disk_;
  int honest_starts_ = 0, other_starts_ = 0;
};

TEST(Nonsense, AnythingMayBeSaidAndHonestWorkGoesOn) {
  int honest = 0, others = 0;
  for (const Policy& policy : policies()) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      SCOPED_TRACE(std::string(policy.name) + " " + std::to_string(seed));
      Babel babel(seed, policy);
      for (int step = 0; step < 400 && !testing::Test::HasFailure(); ++step) babel.step();
      babel.end();
      honest += babel.honest_starts();
      others += babel.other_starts();
    }
  }
  EXPECT_GT(honest, 300);
  EXPECT_GT(others, 300);  // or nothing that was said made sense
}

}  // namespace
}  // namespace attune::jobs
