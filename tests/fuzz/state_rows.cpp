// The state of a scheduler as it is read back: a whole database, and the book that is made of its
// rows, also when damaged ones were set aside.
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
    for (const char* end : {"", "-wal", "-shm"}) std::remove((path_ + end).c_str());
  }
  StateOnDisk(const StateOnDisk&) = delete;
  StateOnDisk& operator=(const StateOnDisk&) = delete;

  const std::string& hold(std::string_view bytes) const {
    for (const char* end : {"-wal", "-shm"}) std::remove((path_ + end).c_str());
    CHECK(::ftruncate(descriptor_, 0) == 0 && ::pwrite(descriptor_, bytes.data(), bytes.size(),
                                                       0) == static_cast<ssize_t>(bytes.size()),
          "there is room for the file");
    return path_;
  }

 private:
  std::string path_;
  int descriptor_;
};

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
  static const StateOnDisk disk;
  const std::string& path = disk.hold(bytes);
  {
    const auto file = server::StateFile::open_to_read(path);
    if (!file.ok() || make_book(*file)) return;
  }
  auto file = server::StateFile::open(path);
  if (file.ok() && file->set_damaged_aside(1000).ok()) (void)make_book(*file);
}

}  // namespace attune::fuzz
