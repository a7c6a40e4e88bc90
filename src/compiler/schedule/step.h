// Steps: the vocabulary of schedules, plain data. A step names its stage by role and its loops by
// name; what it does to a State is in the file of the primitive (split.cpp, fuse.cpp, …). list.inc
// names the steps with their fields, once; structs, printing, parsing, JSON and hashing follow.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace attune::schedule {

using Names = std::vector<std::string>;

// The types of fields. A list takes the rest of its line and stands last.
using Word = std::string;
using Words = Names;
using Number = std::int64_t;
using Numbers = std::vector<std::int64_t>;

#define FIELD(type, name) type name = {};
#define ATTUNE_STEP(Type, text, members)       \
  struct Type {                                \
    static constexpr const char* kName = text; \
    members                                    \
  };
#include "compiler/schedule/list.inc"

// Hands the fields of a step to a visitor, each with its name, in the order of the text form.
#define FIELD(type, name) visit(#name, step.name);
#define ATTUNE_STEP(Type, text, visits)      \
  template <typename Visitor>                \
  void fields(Type& step, Visitor&& visit) { \
    visits                                   \
  }
#include "compiler/schedule/list.inc"

template <typename First, typename... Others>
using OneOfTheOthers = std::variant<Others...>;
using Step = OneOfTheOthers<void
#define ATTUNE_STEP(Type, ...) , Type
#include "compiler/schedule/list.inc"
                            >;

}  // namespace attune::schedule
