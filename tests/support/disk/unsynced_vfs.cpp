#include "tests/support/disk/unsynced_vfs.h"

#include <sqlite3.h>

#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace attune::test {

using Kind = DiskEvent::Kind;

struct UnsyncedVfs::Shared {
  std::filesystem::path folder;
  VfsOptions options;
  DiskFiles before;
  sqlite3_vfs vfs = {};
  sqlite3_vfs* real = nullptr;
  mutable std::mutex mutex;
  std::vector<DiskEvent> events;
  std::set<std::string> names;  // that the disk was told of

  void tell(DiskEvent event) {
    const std::lock_guard lock(mutex);
    events.push_back(std::move(event));
  }
  bool is_ours(const char* path) const {
    return path != nullptr && std::filesystem::path(path).parent_path() == folder;
  }
  static std::string name_of(const char* path) {
    return std::filesystem::path(path).filename().string();
  }
};

namespace {

using Shared = UnsyncedVfs::Shared;

// The one that lives; SQLite's hook for new connections has no parameter.
int checkpoint_pages_of_new_connections = 0;

struct File {
  sqlite3_file base;
  Shared* shared;
  std::string* name;   // null: of no account (a temporary file)
  bool sync_folder;    // with the first sync
  sqlite3_file* real;  // behind this one
};

File& file_of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
sqlite3_file* real_of(sqlite3_file* file) { return file_of(file).real; }

void tell(sqlite3_file* file, Kind kind, std::uint64_t offset = 0, std::string bytes = {}) {
  if (file_of(file).name == nullptr) return;
  file_of(file).shared->tell({kind, *file_of(file).name, offset, std::move(bytes)});
}

int close_file(sqlite3_file* file) {
  const int code = real_of(file)->pMethods->xClose(real_of(file));
  delete file_of(file).name;
  return code;
}
int read_file(sqlite3_file* file, void* to, int bytes, sqlite3_int64 offset) {
  return real_of(file)->pMethods->xRead(real_of(file), to, bytes, offset);
}
int write_file(sqlite3_file* file, const void* from, int bytes, sqlite3_int64 offset) {
  const int code = real_of(file)->pMethods->xWrite(real_of(file), from, bytes, offset);
  if (code == SQLITE_OK) {
    tell(file, Kind::Write, static_cast<std::uint64_t>(offset),
         {static_cast<const char*>(from), static_cast<std::size_t>(bytes)});
  }
  return code;
}
int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  const int code = real_of(file)->pMethods->xTruncate(real_of(file), size);
  if (code == SQLITE_OK) tell(file, Kind::Truncate, static_cast<std::uint64_t>(size));
  return code;
}
int sync_file(sqlite3_file* file, int) {
  if (!file_of(file).shared->options.honest) return SQLITE_OK;
  tell(file, Kind::Sync);
  if (std::exchange(file_of(file).sync_folder, false)) tell(file, Kind::SyncFolder);
  return SQLITE_OK;
}
int size_of_file(sqlite3_file* file, sqlite3_int64* size) {
  return real_of(file)->pMethods->xFileSize(real_of(file), size);
}
int lock_file(sqlite3_file* file, int kind) {
  return real_of(file)->pMethods->xLock(real_of(file), kind);
}
int unlock_file(sqlite3_file* file, int kind) {
  return real_of(file)->pMethods->xUnlock(real_of(file), kind);
}
int check_reserved_lock(sqlite3_file* file, int* held) {
  return real_of(file)->pMethods->xCheckReservedLock(real_of(file), held);
}
int control_file(sqlite3_file* file, int what, void* argument) {
  return real_of(file)->pMethods->xFileControl(real_of(file), what, argument);
}
int sector_size(sqlite3_file* file) { return real_of(file)->pMethods->xSectorSize(real_of(file)); }
int device_characteristics(sqlite3_file* file) {
  return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}
int map_shared(sqlite3_file* file, int page, int bytes, int extend, void volatile** at) {
  return real_of(file)->pMethods->xShmMap(real_of(file), page, bytes, extend, at);
}
int lock_shared(sqlite3_file* file, int offset, int count, int flags) {
  return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
}
void barrier_shared(sqlite3_file* file) { real_of(file)->pMethods->xShmBarrier(real_of(file)); }
int unmap_shared(sqlite3_file* file, int remove) {
  return real_of(file)->pMethods->xShmUnmap(real_of(file), remove);
}

constexpr sqlite3_io_methods kWithMemory = {2,
                                            close_file,
                                            read_file,
                                            write_file,
                                            truncate_file,
                                            sync_file,
                                            size_of_file,
                                            lock_file,
                                            unlock_file,
                                            check_reserved_lock,
                                            control_file,
                                            sector_size,
                                            device_characteristics,
                                            map_shared,
                                            lock_shared,
                                            barrier_shared,
                                            unmap_shared,
                                            nullptr,
                                            nullptr};

sqlite3_io_methods without_memory() {
  sqlite3_io_methods methods = kWithMemory;
  methods.iVersion = 1;
  return methods;
}
const sqlite3_io_methods kWithoutMemory = without_memory();

Shared& shared_of(sqlite3_vfs* vfs) { return *static_cast<Shared*>(vfs->pAppData); }

int open_file(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out_flags) {
  Shared& shared = shared_of(vfs);
  File& made = file_of(file);
  made = {{nullptr}, &shared, nullptr, false, reinterpret_cast<sqlite3_file*>(&made + 1)};
  const int code = shared.real->xOpen(shared.real, path, made.real, flags, out_flags);
  if (made.real->pMethods != nullptr) {
    made.base.pMethods = shared.options.shared_memory ? &kWithMemory : &kWithoutMemory;
  }
  if (code != SQLITE_OK || !shared.is_ours(path)) return code;
  made.name = new std::string(Shared::name_of(path));
  // As SQLite's own does, whether the log was there or not.
  made.sync_folder = (flags & SQLITE_OPEN_CREATE) != 0 &&
                     (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0;
  const std::lock_guard lock(shared.mutex);
  if (shared.names.insert(*made.name).second) shared.events.push_back({Kind::Create, *made.name});
  return code;
}

int delete_file(sqlite3_vfs* vfs, const char* path, int sync_folder) {
  Shared& shared = shared_of(vfs);
  const int code = shared.real->xDelete(shared.real, path, 0);
  if (code != SQLITE_OK || !shared.is_ours(path)) return code;
  const std::lock_guard lock(shared.mutex);
  shared.names.erase(Shared::name_of(path));
  shared.events.push_back({Kind::Delete, Shared::name_of(path)});
  if (sync_folder != 0 && shared.options.honest) shared.events.push_back({Kind::SyncFolder});
  return code;
}

int access_file(sqlite3_vfs* vfs, const char* path, int flags, int* result) {
  return shared_of(vfs).real->xAccess(shared_of(vfs).real, path, flags, result);
}
int full_path(sqlite3_vfs* vfs, const char* path, int bytes, char* out) {
  return shared_of(vfs).real->xFullPathname(shared_of(vfs).real, path, bytes, out);
}

int set_checkpoint(sqlite3* connection, char**, const void*) {
  sqlite3_wal_autocheckpoint(connection, checkpoint_pages_of_new_connections);
  return SQLITE_OK;
}
using Entry = void (*)();

}  // namespace

UnsyncedVfs::UnsyncedVfs(std::filesystem::path folder, VfsOptions options)
    : shared_(std::make_unique<Shared>()) {
  shared_->folder = std::filesystem::canonical(folder);
  shared_->options = options;
  shared_->before = read_files(shared_->folder);
  for (const auto& [name, content] : shared_->before) shared_->names.insert(name);
  shared_->real = sqlite3_vfs_find(nullptr);
  shared_->vfs = *shared_->real;  // what concerns no file: time, random numbers, errors
  shared_->vfs.szOsFile = static_cast<int>(sizeof(File)) + shared_->real->szOsFile;
  shared_->vfs.zName = "unsynced";
  shared_->vfs.pAppData = shared_.get();
  shared_->vfs.xOpen = open_file;
  shared_->vfs.xDelete = delete_file;
  shared_->vfs.xAccess = access_file;
  shared_->vfs.xFullPathname = full_path;
  CHECK(sqlite3_vfs_register(&shared_->vfs, 1) == SQLITE_OK, "SQLite takes file systems");
  if (options.checkpoint_pages > 0) {
    checkpoint_pages_of_new_connections = options.checkpoint_pages;
    sqlite3_auto_extension(reinterpret_cast<Entry>(set_checkpoint));
  }
}

UnsyncedVfs::~UnsyncedVfs() {
  sqlite3_cancel_auto_extension(reinterpret_cast<Entry>(set_checkpoint));
  sqlite3_vfs_unregister(&shared_->vfs);
}

std::size_t UnsyncedVfs::position() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->events.size();
}

DiskFiles UnsyncedVfs::after_power_cut(std::size_t position, Rng& rng) const {
  const std::lock_guard lock(shared_->mutex);
  return test::after_power_cut(shared_->before, std::span(shared_->events).first(position), rng);
}

}  // namespace attune::test
