// Names of files reach the disk with the folder that they are in: after this, those that were made,
// renamed or removed there are found so when power fails. A folder that is not there any more has
// no names to keep, and some file systems cannot sync one: these are no errors.
#pragma once

#include <string>

#include "base/result.h"

namespace attune {

Status sync_folder(const std::string& path);
// What a file holds: after this it is there when power fails, where its name is.
Status sync_file(const std::string& path);

}  // namespace attune
