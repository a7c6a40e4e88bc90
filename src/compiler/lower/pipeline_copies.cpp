// A loop with the note `pipeline` has copies into shared memory in front of its body. Their buffers
// get a slot for each of N iterations, and iteration i copies what iteration i + N - 1 reads:
//
//   for p in N - 1:        copy(p) into slot p; commit
//   for i in extent:
//     wait(N - 2); barrier
//     if i + N - 1 < extent: copy(i + N - 1) into slot (i + N - 1) % N
//     commit
//     body(i), which reads slot i % N
//
// Each iteration closes one group, also without copies, so that N - 2 newer groups than that of
// iteration i are closed when it waits. The one barrier does for both sides: behind it, what all
// threads copied for i is there, and all have done with iteration i - 1, whose slot is filled next.
//
// A copy that cannot be asynchronous (copy_forms.h) goes through registers: they are filled where
// the copy would be issued, and stored into the slot behind the body.
#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "compiler/ir/nodes/intrinsics.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/lower/copy_forms.h"
#include "compiler/lower/statement_passes.h"
#include "compiler/schedule/pipelines.h"

namespace attune::lower {
namespace {

using ir::Expr;
using ir::Stmt;

Stmt call(std::string_view name, std::vector<Expr> arguments = {}) {
  return ir::evaluate(ir::opaque(std::string(name), ir::kI32, std::move(arguments)));
}

struct Note {
  std::int64_t buffers = 0;
  std::vector<std::string> names;
};

Note parse_note(const std::string& text) {
  Note note;
  const char* end = text.data() + text.size();
  const char* at = std::from_chars(text.data(), end, note.buffers).ptr;
  while (at < end) {
    const char* next = std::find(++at, end, ' ');
    note.names.emplace_back(at, next);
    at = next;
  }
  CHECK(note.buffers > 1 && !note.names.empty(), "a pipeline has buffers and stages");
  return note;
}

bool stores_to(const Stmt& s, const ir::Buffer& buffer) {
  bool found = false;
  ir::visit(
      s,
      [&](const Stmt& part) {
        const auto* store = ir::as<ir::Store>(part);
        found |= store && store->buffer == buffer;
      },
      [](const Expr&) {});
  return found;
}

Stmt with_loads(const Stmt& s, const Slot& slot) {
  return ir::map_children(
      s, [&](const Stmt& child) { return with_loads(child, slot); },
      [&](const Expr& e) {
        return ir::replace_loads(e, slot.from, [&](const std::vector<Expr>& index) {
          return ir::load(slot.to, slot.place(index));
        });
      });
}

// One pipelined loop.
class PipelinedLoop {
 public:
  PipelinedLoop(const ir::For& loop, Note note) : loop_(loop), buffers_(note.buffers) {
    const auto* extent = ir::as_int(loop.extent);
    CHECK(extent && ir::is_const_int(loop.min, 0), "a pipelined loop is as the nest has it");
    extent_ = *extent;
    take_apart(note);
  }

  Stmt rewritten(const ir::Ranges& around) {
    const Expr i = ir::var(loop_.var);
    const Expr later = i + Expr(buffers_ - 1);
    const Expr runs = later < Expr(extent_);
    const ir::Ranges inside = around.with_loop(loop_.var, loop_.min, loop_.extent);
    std::vector<Stmt> issue, put;
    for (const Copy& copy : copies_) {
      const Slot slot{copy.from, copy.to, later % Expr(buffers_)};
      const Stmt nest = ir::substitute(copy.nest, {{loop_.var, later}});
      const auto async = asynchronous(nest, slot, inside.assume(runs));
      async_.push_back(async.has_value());
      if (async) {
        issue.push_back(*async);
        continue;
      }
      Staged parts = staged(nest, slot);
      kept_.push_back(parts.held);
      issue.push_back(parts.fetch);
      put.push_back(parts.put);
    }
    std::vector<Stmt> body;
    if (any_async()) body.push_back(call(ir::kAsyncWait, {Expr(buffers_ - 2)}));
    body.push_back(ir::make_stmt(ir::Barrier{ir::Scope::Shared}));
    body.push_back(ir::if_then(runs, ir::block(issue)));
    if (any_async()) body.push_back(call(ir::kAsyncCommit));
    Stmt rest = ir::block(rest_);
    for (const Copy& copy : copies_) {
      rest = with_loads(rest, {copy.from, copy.to, i % Expr(buffers_)});
    }
    body.push_back(rest);
    if (!put.empty()) body.push_back(ir::if_then(runs, ir::block(put)));
    ir::For steady = loop_;
    std::erase_if(steady.notes, [](const auto& n) { return n.first == schedule::kPipelineNote; });
    steady.body = ir::block(std::move(body));
    for (auto b = kept_.rbegin(); b != kept_.rend(); ++b) {
      steady.body = ir::allocate(*b, steady.body);
    }
    Stmt whole = ir::block({prologue(around), ir::make_stmt(std::move(steady))});
    for (auto c = copies_.rbegin(); c != copies_.rend(); ++c) whole = ir::allocate(c->to, whole);
    return whole;
  }

 private:
  struct Copy {
    ir::Buffer from, to;
    Stmt nest;
  };

  bool any_async() const { return std::find(async_.begin(), async_.end(), true) != async_.end(); }

  void take_apart(const Note& note) {
    Stmt body = loop_.body;
    while (const auto* storage = ir::as<ir::Allocate>(body)) {
      const ir::Buffer& buffer = storage->buffer;
      if (std::find(note.names.begin(), note.names.end(), buffer->name) == note.names.end()) {
        kept_.push_back(buffer);
      } else {
        std::vector<std::int64_t> shape{buffers_};
        shape.insert(shape.end(), buffer->shape.begin(), buffer->shape.end());
        copies_.push_back(
            {buffer, ir::make_buffer(buffer->name, buffer->type, shape, buffer->scope), {}});
      }
      body = storage->body;
    }
    const auto* list = ir::as<ir::Block>(body);
    CHECK(list, "copies stand in front of those who read them");
    for (const Stmt& s : list->stmts) {
      const auto copy = std::find_if(copies_.begin(), copies_.end(),
                                     [&](const Copy& c) { return stores_to(s, c.from); });
      copy == copies_.end() ? rest_.push_back(s) : void(copy->nest = s);
    }
  }

  // What the first iterations read.
  Stmt prologue(const ir::Ranges& around) const {
    const std::string variable = loop_.var + "_ahead";
    const std::int64_t iterations = std::min(buffers_ - 1, extent_);
    const ir::Ranges inside = around.with_loop(variable, Expr(0), Expr(iterations));
    std::vector<Stmt> body;
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      const Slot slot{copies_[i].from, copies_[i].to, ir::var(variable)};
      const Stmt nest = ir::substitute(copies_[i].nest, {{loop_.var, ir::var(variable)}});
      const auto async = async_[i] ? asynchronous(nest, slot, inside) : std::nullopt;
      body.push_back(async ? *async : stored(nest, slot));
    }
    if (any_async()) body.push_back(call(ir::kAsyncCommit));
    std::vector<Stmt> all{ir::for_loop(variable, 0, iterations, ir::block(std::move(body)))};
    for (std::int64_t i = iterations; any_async() && i < buffers_ - 1; ++i) {
      all.push_back(call(ir::kAsyncCommit));
    }
    return ir::block(std::move(all));
  }

  const ir::For& loop_;
  std::int64_t buffers_, extent_ = 0;
  std::vector<Copy> copies_;
  std::vector<bool> async_;       // of each copy
  std::vector<ir::Buffer> kept_;  // of each iteration
  std::vector<Stmt> rest_;
};

Stmt pipelined(const Stmt& s, const ir::Ranges& ranges) {
  const auto* outer = ir::as<ir::For>(s);
  const ir::Ranges inner = outer ? ranges.with_loop(outer->var, outer->min, outer->extent) : ranges;
  const Stmt mapped = ir::map_children(
      s, [&](const Stmt& child) { return pipelined(child, inner); },
      [](const Expr& e) { return e; });
  const auto* loop = ir::as<ir::For>(mapped);
  if (!loop) return mapped;
  const auto note = std::find_if(loop->notes.begin(), loop->notes.end(),
                                 [](const auto& n) { return n.first == schedule::kPipelineNote; });
  if (note == loop->notes.end()) return mapped;
  return PipelinedLoop(*loop, parse_note(note->second)).rewritten(ranges);
}

}  // namespace

Stmt pipeline_copies(const Stmt& s) { return pipelined(s, {}); }

}  // namespace attune::lower
