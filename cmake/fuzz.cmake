# The harnesses of tests/fuzz, from the list that its programs include (tests/fuzz/list.inc).

# attune_harnesses(out): a list of lines "NAME|LAYER LAYER…|SOURCE SOURCE…".
function(attune_harnesses out)
  set(list ${CMAKE_SOURCE_DIR}/tests/fuzz/list.inc)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} lines REGEX "^ATTUNE_HARNESS")
  list(TRANSFORM lines REPLACE
    "ATTUNE_HARNESS\\(([a-z_]+), \"([^\"]*)\", \"([^\"]*)\"\\)" "\\1|\\2|\\3")
  set(${out} ${lines} PARENT_SCOPE)
endfunction()

# attune_add_fuzzers(): a program fuzz_NAME for each, and `fuzzers` for all of them.
function(attune_add_fuzzers)
  set(folder ${CMAKE_SOURCE_DIR}/tests/fuzz)
  add_custom_target(fuzzers)
  attune_harnesses(lines)
  foreach(line ${lines})
    string(REPLACE "|" ";" parts "${line}")
    list(GET parts 0 name)
    list(GET parts 1 layers)
    list(GET parts 2 sources)
    separate_arguments(layers)
    separate_arguments(sources)
    list(TRANSFORM layers PREPEND attune_)
    list(TRANSFORM sources PREPEND ${CMAKE_SOURCE_DIR}/src/)
    add_executable(fuzz_${name} EXCLUDE_FROM_ALL ${folder}/libfuzzer.cpp ${folder}/${name}.cpp
                                                 ${sources})
    target_include_directories(fuzz_${name} PRIVATE ${CMAKE_SOURCE_DIR})
    target_compile_definitions(fuzz_${name} PRIVATE ATTUNE_HARNESS_FUNCTION=fuzz_${name})
    target_link_libraries(fuzz_${name} PRIVATE attune_flags ${layers} attune_base attune_part_json)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers fuzz_${name})
  endforeach()
endfunction()

# attune_fuzz_replay(): all harnesses in one test, which reads the corpora without looking for more.
function(attune_fuzz_replay)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/libfuzzer\\.cpp$")
  attune_test(fuzz_replay_test SOURCES ${sources} LINK attune_test_support)
endfunction()
