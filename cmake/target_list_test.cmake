# Run by `cmake -P`: which devices the runtime carries, by a list of targets as src/targets/list.inc.
include(${CMAKE_CURRENT_LIST_DIR}/runtime.cmake)

# expect(LIST KIND...): the list of targets makes these kinds a part of the runtime.
function(expect list)
  set(CMAKE_SOURCE_DIR ${CMAKE_CURRENT_BINARY_DIR}/target_list_test)
  file(WRITE ${CMAKE_SOURCE_DIR}/src/targets/list.inc "${list}")
  attune_runtime_devices(kinds)
  if(NOT "${kinds}" STREQUAL "${ARGN}")
    message(SEND_ERROR "devices of the runtime are '${kinds}', must be '${ARGN}', by\n${list}")
  endif()
endfunction()

expect("#define ATTUNE_DEVICE(kind)\n#undef ATTUNE_DEVICE\n")
expect("// A comment on ATTUNE_DEVICE(none).\nATTUNE_FACTS(a) ATTUNE_DEVICE(a) ATTUNE_TUNING(a)\n" a)
expect("ATTUNE_DEVICE(a) ATTUNE_FACTS(a)\nATTUNE_FACTS(b) ATTUNE_TOOL_DEVICE(b)\nATTUNE_DEVICE(c2)\n"
       a c2)
expect("ATTUNE_DEVICE(a) ATTUNE_DEVICE(b)\n" a b)
