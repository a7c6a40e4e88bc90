// The state of a scheduler as it is read back: a whole database, and the book that is made of its
// rows, also when damaged ones were set aside.
#include <string>

#include "fleet/jobs/book/book_testing.h"
#include "fleet/server/state_file.h"
#include "tests/fuzz/file_on_disk.h"
#include "tests/fuzz/harness.h"

namespace attune::fuzz {
namespace {

// False: the rows cannot be read.
bool make_book(const server::StateFile& file) {
  auto jobs = file.read_jobs();
  const auto stages = file.read_stages(1000);
  (void)file.read_pools();
  if (!jobs.ok() || !stages.ok()) return false;
  jobs::Book book(jobs::options(), std::move(*jobs), 1000);
  book.recall(*stages);
  book.joined(1, jobs::kLocal, 1000);
  book.said(1, jobs::hello(), 1000);
  book.time_passed(1001);
  (void)book.settle(1001);
  (void)book.snapshot(jobs::kMe, {}, 1001);
  return true;
}

}  // namespace

void fuzz_state_rows(std::string_view bytes) {
  static const FileOnDisk disk;
  const std::string& path = disk.hold(bytes);
  {
    const auto file = server::StateFile::open_to_read(path);
    if (!file.ok() || make_book(*file)) return;
  }
  auto file = server::StateFile::open(path);
  if (file.ok() && file->set_damaged_aside(1000).ok()) (void)make_book(*file);
}

}  // namespace attune::fuzz
