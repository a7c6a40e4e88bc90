// What others say to the book is looked at before it is believed: numbers that are none, or beyond
// all measure, would spoil sums and orders for good.
#pragma once

#include <string>

#include "base/result.h"
#include "fleet/wire/jobs.pb.h"

namespace attune::jobs {

Status check_numbers(const v1::JobSpec& spec);
Status check_kinds(const google::protobuf::RepeatedPtrField<v1::StageKind>& kinds);
Status check_finished(const v1::Finished& finished);
Status check_wish(v1::Wish wish);
// A name like a number of a job ("j7") would stand for two jobs.
bool looks_like_id(const std::string& name);

}  // namespace attune::jobs
