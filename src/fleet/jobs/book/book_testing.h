// What tests tell a book, and what they ask of it.
#pragma once

#include <string>

#include "base/check.h"
#include "fleet/jobs/book/book.h"
#include "fleet/jobs/policies/policies.h"

namespace attune::jobs {

inline BookOptions options(std::string_view policy = "fair") {
  return {.pools = {{"host", {{0}}}, {"cpu", {{1}}}},
          .policy = *find_policy(policy),
          .version = "1",
          .prefetch = 2};
}

// The scheduler's user, and a worker of it: one that it started, or one that may outlive it.
inline const Caller kMe{.uid = 0, .user = "me"};
inline const Pass kLocal{.caller = kMe, .local = true, .by_token = Standing::Worker};
inline const Pass kElsewhere{.caller = kMe, .by_token = Standing::Worker};

inline v1::SubmitRequest request(const std::string& name, const std::string& key = "") {
  v1::SubmitRequest request;
  request.mutable_spec()->set_model("resnet18");
  request.mutable_spec()->set_name(name);
  request.set_idempotency_key(key);
  return request;
}

inline v1::FromWorker hello(const std::string& version = "1") {
  v1::FromWorker message;
  message.mutable_hello()->set_version(version);
  message.mutable_hello()->set_name("w");
  message.mutable_hello()->add_devices("cpu");
  message.mutable_hello()->set_takes_jobs(true);
  message.mutable_hello()->set_secret("its own");
  return message;
}

inline v1::FromWorker kinds(const std::string& job, std::int64_t epoch,
                            const std::string& pool = "cpu") {
  v1::FromWorker message;
  message.mutable_kinds()->set_job(job);
  message.mutable_kinds()->set_epoch(epoch);
  for (const std::string& name : {std::string("host"), pool}) {
    v1::StageKind& kind = *message.mutable_kinds()->add_kinds();
    kind.set_name(name == "host" ? "build" : "profile");
    kind.set_pool(name);
    kind.set_amount(1);
    kind.set_usual_seconds(1);
    kind.set_left(5);
  }
  return message;
}

inline v1::FromWorker offer(const std::string& job, std::int64_t epoch, std::int64_t stage,
                            int kind) {
  v1::FromWorker message;
  message.mutable_offer()->set_job(job);
  message.mutable_offer()->set_epoch(epoch);
  message.mutable_offer()->set_stage(stage);
  message.mutable_offer()->set_kind(kind);
  return message;
}

inline v1::FromWorker finished(const std::string& job, std::int64_t epoch, std::int64_t stage) {
  v1::FromWorker message;
  message.mutable_finished()->set_job(job);
  message.mutable_finished()->set_epoch(epoch);
  message.mutable_finished()->set_stage(stage);
  message.mutable_finished()->set_seconds(1);
  return message;
}

inline v1::FromWorker ended(const std::string& job, std::int64_t epoch, v1::JobState state) {
  v1::FromWorker message;
  message.mutable_ended()->set_job(job);
  message.mutable_ended()->set_epoch(epoch);
  message.mutable_ended()->set_state(state);
  return message;
}

inline v1::FromWorker alive(const std::string& job, std::int64_t epoch, std::int64_t stage) {
  v1::FromWorker message;
  message.mutable_alive()->set_job(job);
  message.mutable_alive()->set_epoch(epoch);
  message.mutable_alive()->set_stage(stage);
  return message;
}

inline v1::FromWorker progress(const std::string& job, std::int64_t epoch, std::int64_t trials) {
  v1::FromWorker message;
  message.mutable_progress()->set_job(job);
  message.mutable_progress()->set_epoch(epoch);
  message.mutable_progress()->set_trials(trials);
  return message;
}

inline v1::FromWorker beat() {
  v1::FromWorker message;
  message.mutable_beat();
  return message;
}

inline v1::ControlRequest wish(const std::string& job, v1::Wish wish) {
  v1::ControlRequest request;
  request.set_job(job);
  request.set_wish(wish);
  return request;
}

inline v1::Job job_of(const Book& book, const std::string& name, double now) {
  v1::ListRequest list;
  list.set_job(name);
  return book.snapshot(kMe, list, now)->jobs(0);
}

// A book with one job, which the local worker 1 has, with one stage of it running on the device.
inline Book one_running(std::string_view policy = "fair") {
  Book book(options(policy), {}, 0);
  CHECK(book.submit(kMe, request("a"), 0).ok(), "the job is a good one");
  book.joined(1, kLocal, 0);
  book.said(1, hello(), 0);
  book.settle(0);
  book.said(1, kinds("j1", 1), 0);
  book.said(1, offer("j1", 1, 7, 1), 0);
  CHECK(book.settle(0).messages.size() == 1, "the stage may start");
  return book;
}

}  // namespace attune::jobs
