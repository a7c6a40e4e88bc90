# The runtime stands alone: base and plain C++, no other package. It is built twice, as the static
# library attune_runtime that the other layers link, and as libattune_runtime.so for programs that
# only run artifacts: it shows the C interface (attune.h) and nothing else.

# attune_runtime_devices(out): the targets whose device is a part of the runtime, by the list of targets.
function(attune_runtime_devices out)
  set(list ${CMAKE_SOURCE_DIR}/src/targets/list.inc)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} lines REGEX "^ATTUNE_")
  string(REGEX MATCHALL "ATTUNE_DEVICE\\([a-z0-9_]+\\)" kinds "${lines}")
  list(TRANSFORM kinds REPLACE "ATTUNE_DEVICE\\((.*)\\)" "\\1")
  set(${out} ${kinds} PARENT_SCOPE)
endfunction()

function(attune_runtime_sources out)
  attune_layer_sources(runtime sources tests)
  attune_runtime_devices(kinds)
  foreach(kind ${kinds})
    attune_layer_sources(targets/${kind}/device device_sources tests)
    list(APPEND sources ${device_sources})
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

function(attune_runtime_shared)
  attune_runtime_sources(sources)
  set(parts check.cpp atomic_file.cpp sync_folder.cpp cage/control_group_place.cpp)
  list(TRANSFORM parts PREPEND ${CMAKE_SOURCE_DIR}/src/base/)
  add_library(attune_runtime_shared SHARED ${sources} ${parts})
  set_target_properties(attune_runtime_shared PROPERTIES
    OUTPUT_NAME attune_runtime CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  # Small, but for the few loops over data.
  target_compile_options(attune_runtime_shared PRIVATE -ffunction-sections -fdata-sections
                         $<$<CONFIG:Release>:-Os>)
  foreach(loop format/checksum host/elements host/mat_mul host/strides)
    set_source_files_properties(${CMAKE_SOURCE_DIR}/src/runtime/${loop}.cpp PROPERTIES
                                COMPILE_OPTIONS $<$<CONFIG:Release>:-O2>)
  endforeach()
  target_compile_definitions(attune_runtime_shared PRIVATE ATTUNE_VERSION="${PROJECT_VERSION}")
  target_link_options(attune_runtime_shared PRIVATE -Wl,--gc-sections
                      -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/runtime_symbols.txt
                      $<$<CONFIG:Release>:-Wl,--strip-all>)
  target_link_libraries(attune_runtime_shared PRIVATE attune_flags Threads::Threads)
endfunction()

function(attune_runtime_static)
  attune_runtime_sources(sources)
  add_library(attune_runtime STATIC ${sources})
  target_link_libraries(attune_runtime PUBLIC attune_flags attune_base Threads::Threads
                                              ${CMAKE_DL_LIBS})
  if(ATTUNE_BUILD_TESTS)
    attune_layer_sources(runtime sources tests)
    attune_test(runtime_test SOURCES ${tests} LINK attune_runtime)
    attune_test_kernels(runtime_test runtime/test_kernels)
    add_dependencies(runtime_test example_run_model)
    target_compile_definitions(runtime_test PRIVATE ATTUNE_RELEASE_BUILD=$<CONFIG:Release>)
  endif()
endfunction()

# examples/c as its readers build it, against the shared library; runtime_test runs it.
function(attune_example_c)
  add_executable(example_run_model ${CMAKE_SOURCE_DIR}/examples/c/run_model.c)
  set_target_properties(example_run_model PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF
    LINKER_LANGUAGE CXX)  # which brings the sanitizers of the library along
  target_compile_options(example_run_model PRIVATE -Wall -Wextra -Wpedantic -Werror)
  target_include_directories(example_run_model PRIVATE ${CMAKE_SOURCE_DIR}/src/runtime)
  target_link_libraries(example_run_model PRIVATE attune_runtime_shared)
endfunction()

# Programs of tests/arm, for this architecture or another: run_outputs uses the shared library,
# run_kernel what that hides.
function(attune_run_programs)
  add_executable(run_outputs ${CMAKE_SOURCE_DIR}/tests/arm/run_outputs.c)
  set_target_properties(run_outputs PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF LINKER_LANGUAGE CXX)
  target_compile_options(run_outputs PRIVATE -Wall -Wextra -Wpedantic -Werror)
  target_include_directories(run_outputs PRIVATE ${CMAKE_SOURCE_DIR}/src/runtime)
  target_link_libraries(run_outputs PRIVATE attune_runtime_shared)
  add_executable(run_kernel ${CMAKE_SOURCE_DIR}/tests/arm/run_kernel.cpp
                            $<TARGET_OBJECTS:attune_runtime_shared>)
  target_link_libraries(run_kernel PRIVATE attune_flags Threads::Threads ${CMAKE_DL_LIBS})
endfunction()

# attune_test_kernels(TEST dir): each src/DIR/*.c becomes a shared object of one test kernel, with what
# src/DIR/system/*.c gives it instead of a C library; the test program finds them in the folder
# ATTUNE_TEST_KERNELS of the build folder and reads them as bytes.
function(attune_test_kernels test dir)
  string(REPLACE "/" "_" library ${dir})
  if(NOT TARGET ${library})
    add_custom_target(${library})
    file(GLOB kernels CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${dir}/*.c)
    file(GLOB system CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${dir}/system/*.c)
    foreach(kernel ${kernels})
      get_filename_component(name ${kernel} NAME_WE)
      attune_test_kernel(${library} ${name} ${kernel} ${system})
    endforeach()
  endif()
  add_dependencies(${test} ${library})
  target_compile_definitions(${test} PRIVATE ATTUNE_TEST_KERNELS="test_kernels/${library}")
endfunction()

# attune_test_kernel(LIBRARY NAME SOURCE...): test_kernels/LIBRARY/NAME.so.
function(attune_test_kernel library name)
  set(target ${library}_${name})
  add_library(${target} MODULE ${ARGN})
  # Kernels are plain code, like generated ones: no sanitizer, no built-in knowledge of malloc.
  # They stand alone: the loader knows no other library.
  target_compile_options(${target} PRIVATE -O2 -fno-builtin -fno-stack-protector -Wall -Wextra
                                           -Werror)
  target_link_options(${target} PRIVATE -nostdlib)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${name} INSTALL_RPATH ""
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test_kernels/${library})
  add_dependencies(${library} ${target})
endfunction()

# attune_test_driver(TEST dir): src/DIR/*.cpp become a shared library that stands for a device's driver;
# the test program finds it at ATTUNE_TEST_DRIVER of the build folder.
function(attune_test_driver test dir)
  string(REPLACE "/" "_" driver ${dir})
  if(NOT TARGET ${driver})
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${dir}/*.cpp)
    add_library(${driver} MODULE ${sources})
    target_link_libraries(${driver} PRIVATE attune_flags)
    set_target_properties(${driver} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test_kernels/drivers)
  endif()
  add_dependencies(${test} ${driver})
  target_compile_definitions(${test} PRIVATE
    ATTUNE_TEST_DRIVER="test_kernels/drivers/$<TARGET_FILE_NAME:${driver}>")
endfunction()
