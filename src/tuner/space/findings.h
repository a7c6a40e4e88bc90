// What templates find out about programs, remembered: a search writes thousands of schedules of the
// same one, and only its knobs differ. Whoever has schedules written owns the findings and hands
// them down. A program is the same when its expressions are the very same objects, which are held
// here. Answers are functions of the program and the question, and of nothing else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <typeindex>
#include <utility>
#include <vector>

#include "compiler/ir/nodes/tensor_expr.h"

namespace attune::space {

inline bool is_same(const ir::Stage& a, const ir::Stage& b) {
  return a.outputs == b.outputs && a.reduction == b.reduction &&
         std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(),
                    [](const ir::Expr& x, const ir::Expr& y) { return x.same(y); }) &&
         a.name == b.name && a.axes == b.axes && a.reduce_axes == b.reduce_axes;
}

inline bool is_same(const ir::Program& a, const ir::Program& b) {
  return a.outputs == b.outputs &&
         std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(), b.stages.end(),
                    [](const ir::Stage& x, const ir::Stage& y) { return is_same(x, y); }) &&
         std::equal(a.inputs.begin(), a.inputs.end(), b.inputs.begin(), b.inputs.end(),
                    [](const ir::Input& x, const ir::Input& y) {
                      return x.buffer == y.buffer && x.constant == y.constant;
                    });
}

// For several threads.
class Findings {
 public:
  // What `find` says: there is one kind of question, beside the program, for a type of answers.
  template <typename Answer, typename Question, typename Find>
  std::shared_ptr<const Answer> of(const ir::Program& program, const Question& question,
                                   const Find& find) {
    return kind<Kind<Question, Answer>>().of(program, question, find);
  }

 private:
  template <typename Question, typename Answer>
  class Kind {
   public:
    template <typename Find>
    std::shared_ptr<const Answer> of(const ir::Program& program, const Question& question,
                                     const Find& find) {
      {
        const std::shared_lock lock(mutex_);
        for (const Entry& entry : entries_) {
          if (is_same(entry.program, program) && entry.question == question) return entry.answer;
        }
      }
      auto answer = std::make_shared<const Answer>(find());
      const std::lock_guard lock(mutex_);
      if (entries_.size() < kMost) {
        entries_.push_back({program, question, answer});
      } else {
        entries_[next_++ % kMost] = {program, question, answer};
      }
      return answer;
    }

   private:
    struct Entry {
      ir::Program program;
      Question question;
      std::shared_ptr<const Answer> answer;
    };
    static constexpr std::size_t kMost = 256;
    std::shared_mutex mutex_;
    std::vector<Entry> entries_;
    std::size_t next_ = 0;  // to be replaced
  };

  template <typename Wanted>
  Wanted& kind() {
    const std::type_index type(typeid(Wanted));
    {
      const std::shared_lock lock(mutex_);
      if (const auto found = kinds_.find(type); found != kinds_.end()) {
        return *static_cast<Wanted*>(found->second.get());
      }
    }
    const std::lock_guard lock(mutex_);
    auto& made = kinds_[type];
    if (made == nullptr) made = std::make_shared<Wanted>();
    return *static_cast<Wanted*>(made.get());
  }

  std::shared_mutex mutex_;
  std::map<std::type_index, std::shared_ptr<void>> kinds_;
};

// A program that is scheduled, and where what is found out about it is kept.
struct Subject {
  const ir::Program& program;
  Findings& findings;
};

}  // namespace attune::space
