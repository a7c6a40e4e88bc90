// The tables of the records file and how they came about. A file says in its user_version how many
// of the migrations it has seen; opening it for writing applies the rest, all in one transaction.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "base/sqlite/database.h"

namespace attune::records {

// "Attn": tells our files from other SQLite databases.
inline constexpr std::int64_t kApplicationId = 0x4174746e;

// Migration i takes a file from version i to version i + 1. Published ones are never changed.
std::span<const char* const> migrations();

// Whether the file is one of ours (or empty), sound at first sight, and not of a later version than
// `known`; the version it has.
Result<std::int64_t> check_version(const sqlite::Database& database, std::int64_t known);

// Applies those of `steps` that the file has not seen.
Status migrate(sqlite::Database& database, std::span<const char* const> steps);

}  // namespace attune::records
