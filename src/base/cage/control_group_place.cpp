#include "base/cage/control_group_place.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

namespace attune {
namespace {

std::vector<std::string_view> split(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(mark, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

bool has_word(std::string_view list, std::string_view word) {
  const auto words = split(list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Mounts are told with blanks and backslashes as three octal digits: "\040".
std::string unescape(std::string_view text) {
  const auto digit = [&](std::size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '7' ? text[at] - '0' : -1;
  };
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && digit(at + 1) >= 0 && digit(at + 2) >= 0 && digit(at + 3) >= 0) {
      plain += static_cast<char>(digit(at + 1) * 64 + digit(at + 2) * 8 + digit(at + 3));
      at += 3;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

struct Mount {
  std::string root, point;  // which part of the hierarchy, and where it is seen
  std::string_view type, options;
};

// "34 31 0:31 ROOT POINT rw,relatime [TAGS...] - TYPE SOURCE OPTIONS"
std::optional<Mount> parse_mount(std::string_view line) {
  const auto fields = split(line, ' ');
  if (fields.size() < 6) return std::nullopt;
  const auto dash = std::find(fields.begin() + 6, fields.end(), "-");
  if (fields.end() - dash < 4) return std::nullopt;
  return Mount{unescape(fields[3]), unescape(fields[4]), dash[1], dash[3]};
}

// The folder of a group, or nothing when the mount does not show it.
std::optional<std::string> folder_of(const Mount& mount, const std::string& path) {
  if (path.starts_with("/..")) return std::nullopt;
  const std::string root = mount.root == "/" ? "" : mount.root;
  const std::string group = path == "/" ? "" : path;
  if (!group.starts_with(root)) return std::nullopt;
  const std::string below = group.substr(root.size());
  if (!below.empty() && below.front() != '/') return std::nullopt;
  return mount.point + below;
}

struct Membership {
  CgroupVersion version;
  std::string path;
};

// Lines are "NUMBER:CONTROLLERS:PATH". A controller is in one hierarchy: when version 1 does not
// have it, version 2 may.
std::optional<Membership> parse_membership(std::string_view controller, std::string_view cgroups) {
  std::optional<Membership> found;
  for (const std::string_view line : split(cgroups, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    if (has_word(controllers, controller)) return Membership{CgroupVersion::V1, path};
    if (controllers.empty() && line.starts_with("0:")) found = {CgroupVersion::V2, path};
  }
  return found;
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

Result<GroupPlace> find_control_group(std::string_view controller, std::string_view mountinfo,
                                      std::string_view cgroups) {
  const std::optional<Membership> membership = parse_membership(controller, cgroups);
  if (!membership) {
    return unsupported("this system has no control groups for " + std::string(controller));
  }
  bool mounted = false;
  for (const std::string_view line : split(mountinfo, '\n')) {
    const std::optional<Mount> mount = parse_mount(line);
    if (!mount) continue;
    const bool right = membership->version == CgroupVersion::V1
                           ? mount->type == "cgroup" && has_word(mount->options, controller)
                           : mount->type == "cgroup2";
    if (!right) continue;
    mounted = true;
    if (auto folder = folder_of(*mount, membership->path)) {
      return GroupPlace{membership->version, std::move(*folder)};
    }
  }
  if (!mounted) {
    return unsupported("the control groups for " + std::string(controller) + " are not mounted");
  }
  return unsupported("the control group '" + membership->path + "' is not in what is mounted");
}

Result<GroupPlace> find_control_group(std::string_view controller, const std::string& root) {
  ATTUNE_ASSIGN(GroupPlace place,
                find_control_group(controller, contents_of(root + "/proc/self/mountinfo"),
                                   contents_of(root + "/proc/self/cgroup")));
  place.folder = root + place.folder;
  return place;
}

}  // namespace attune
