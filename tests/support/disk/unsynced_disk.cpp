#include "tests/support/disk/unsynced_disk.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

namespace attune::test {
namespace {

constexpr std::uint64_t kSector = 512;  // what a disk writes whole

// The bytes of a file, whatever its name; without a name when it was deleted.
struct Inode {
  std::string synced = {};
  std::vector<const DiskEvent*> pending = {};  // Write and Truncate
};
using InodePointer = std::shared_ptr<Inode>;

// The folder as it was last synced, and what was done to each name since.
struct Folder {
  std::map<std::string, InodePointer> synced = {}, now = {};
  std::map<std::string, std::vector<InodePointer>> pending = {};  // null: deleted
};

// Bytes that nobody wrote, where a file grew: nothing, or what lay there before.
void resize(std::string& content, std::uint64_t size, Rng* rng) {
  const std::uint64_t old = content.size();
  content.resize(size);
  if (rng == nullptr || old >= size || rng->chance(0.5)) return;
  for (std::uint64_t i = old; i < size; ++i) content[i] = static_cast<char>(rng->next());
}

void apply(const DiskEvent& event, std::string& content, Rng* rng) {
  if (event.kind == DiskEvent::Kind::Truncate) return resize(content, event.offset, rng);
  const std::uint64_t end = event.offset + event.bytes.size();
  if (end > content.size()) resize(content, end, rng);
  std::copy(event.bytes.begin(), event.bytes.end(),
            content.begin() + static_cast<std::ptrdiff_t>(event.offset));
}

// Of a write some sectors arrive and others do not.
void apply_torn(const DiskEvent& event, std::string& content, Rng& rng) {
  const std::uint64_t end = event.offset + event.bytes.size();
  for (std::uint64_t from = event.offset; from < end;) {
    const std::uint64_t to = std::min(end, (from / kSector + 1) * kSector);
    if (rng.chance(0.5)) {
      DiskEvent part{DiskEvent::Kind::Write, event.file, from,
                     event.bytes.substr(from - event.offset, to - from)};
      apply(part, content, &rng);
    }
    from = to;
  }
}

// Most cuts are of one kind: a cache that was written out in order, or not at all, or anyhow.
std::string content_after_cut(const Inode& inode, Rng& rng) {
  std::string content = inode.synced;
  std::vector<const DiskEvent*> pending = inode.pending;
  const double kept = rng.chance(0.3) ? (rng.chance(0.5) ? 1.0 : 0.0) : rng.uniform();
  const double torn = rng.chance(0.5) ? 0 : rng.uniform();
  if (rng.chance(0.5)) {
    for (std::size_t i = pending.size(); i > 1; --i)
      std::swap(pending[i - 1], pending[rng.below(i)]);
  }
  for (const DiskEvent* event : pending) {
    if (!rng.chance(kept)) continue;
    if (event->kind == DiskEvent::Kind::Write && rng.chance(torn)) {
      apply_torn(*event, content, rng);
    } else {
      apply(*event, content, &rng);
    }
  }
  return content;
}

void take(const DiskEvent& event, Folder& folder) {
  switch (event.kind) {
    case DiskEvent::Kind::Create:
    case DiskEvent::Kind::Delete: {
      const bool made = event.kind == DiskEvent::Kind::Create;
      folder.now[event.file] = made ? std::make_shared<Inode>() : nullptr;
      folder.pending[event.file].push_back(folder.now[event.file]);
      return;
    }
    case DiskEvent::Kind::Write:
    case DiskEvent::Kind::Truncate:
      // Who still has a file open that was deleted writes to nobody's.
      if (const InodePointer& inode = folder.now[event.file]) inode->pending.push_back(&event);
      return;
    case DiskEvent::Kind::Sync:
      if (const InodePointer& inode = folder.now[event.file]) {
        for (const DiskEvent* pending : inode->pending) apply(*pending, inode->synced, nullptr);
        inode->pending.clear();
      }
      return;
    case DiskEvent::Kind::SyncFolder:
      for (const auto& [name, inodes] : folder.pending) folder.synced[name] = inodes.back();
      folder.pending.clear();
      return;
  }
}

}  // namespace

DiskFiles read_files(const std::filesystem::path& folder) {
  DiskFiles files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    files[entry.path().filename().string()] = {std::istreambuf_iterator<char>(in), {}};
  }
  return files;
}

void write_files(const DiskFiles& files, const std::filesystem::path& folder) {
  for (const auto& [name, content] : files) {
    std::ofstream(folder / name, std::ios::binary) << content;
  }
}

DiskFiles after_power_cut(const DiskFiles& before, std::span<const DiskEvent> events, Rng& rng) {
  Folder folder;
  for (const auto& [name, content] : before) {
    folder.synced[name] = folder.now[name] = std::make_shared<Inode>(Inode{content});
  }
  for (const DiskEvent& event : events) take(event, folder);
  // Of what happened to a name each step may have been the last that reached the disk.
  for (const auto& [name, inodes] : folder.pending) {
    const std::uint64_t reached = rng.below(inodes.size() + 1);
    if (reached > 0) folder.synced[name] = inodes[reached - 1];
  }
  DiskFiles after;
  for (const auto& [name, inode] : folder.synced) {
    if (inode) after[name] = content_after_cut(*inode, rng);
  }
  return after;
}

}  // namespace attune::test
