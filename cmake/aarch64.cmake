# Debian's cross compiler for aarch64, for the preset of that name: the runtime alone, and programs
# that run under qemu (./test arm).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
find_program(ATTUNE_AARCH64_COMPILER aarch64-linux-gnu-g++)
if(NOT ATTUNE_AARCH64_COMPILER)
  message(FATAL_ERROR "there is no aarch64-linux-gnu-g++; install the Debian packages "
                      "gcc-aarch64-linux-gnu and g++-aarch64-linux-gnu")
endif()
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
