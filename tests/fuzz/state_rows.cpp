// The state of a scheduler as it is read back: a whole database, and the book that is made of its
// rows.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "fleet/jobs/book/book_testing.h"
#include "fleet/server/state_file.h"
#include "tests/fuzz/harness.h"

namespace attune::fuzz {
namespace {

// One file for all inputs of a process, gone when that ends.
class StateOnDisk {
 public:
  StateOnDisk() : path_("/tmp/attune_fuzz_state_XXXXXX") {
    descriptor_ = ::mkstemp(path_.data());
    CHECK(descriptor_ >= 0, "a temporary file can be made");
  }
  ~StateOnDisk() {
    ::close(descriptor_);
    std::remove(path_.c_str());
  }
  StateOnDisk(const StateOnDisk&) = delete;
  StateOnDisk& operator=(const StateOnDisk&) = delete;

  const std::string& hold(std::string_view bytes) const {
    CHECK(::ftruncate(descriptor_, 0) == 0 && ::pwrite(descriptor_, bytes.data(), bytes.size(),
                                                       0) == static_cast<ssize_t>(bytes.size()),
          "there is room for the file");
    return path_;
  }

 private:
  std::string path_;
  int descriptor_;
};

}  // namespace

void fuzz_state_rows(std::string_view bytes) {
  static const StateOnDisk disk;
  const auto file = server::StateFile::open_to_read(disk.hold(bytes));
  if (!file.ok()) return;
  auto jobs = file->read_jobs();
  const auto stages = file->read_stages(1000);
  (void)file->read_pools();
  if (!jobs.ok() || !stages.ok()) return;
  jobs::Book book(jobs::options(), std::move(*jobs), 1000);
  book.recall(*stages);
  book.joined(1, jobs::kLocal, 1000);
  book.said(1, jobs::hello(), 1000);
  book.time_passed(1001);
  (void)book.settle(1001);
  (void)book.snapshot(jobs::kMe, {}, 1001);
}

}  // namespace attune::fuzz
