#include <cstdlib>
#include <filesystem>

#include "tuner/records/store.h"

namespace attune::records {

Result<std::string> default_records_path(const char* xdg_data_home, const char* home) {
  namespace fs = std::filesystem;
  // The XDG rules say that a relative path is to be ignored.
  if (xdg_data_home != nullptr && fs::path(xdg_data_home).is_absolute()) {
    return (fs::path(xdg_data_home) / "attune" / "records.db").string();
  }
  if (home == nullptr || *home == '\0') {
    return Error{ErrorCode::NotFound,
                 "no place for the records: neither HOME nor XDG_DATA_HOME is set",
                 "name a file with --records PATH"};
  }
  return (fs::path(home) / ".local" / "share" / "attune" / "records.db").string();
}

Result<std::string> default_records_path() {
  return default_records_path(std::getenv("XDG_DATA_HOME"), std::getenv("HOME"));
}

}  // namespace attune::records
