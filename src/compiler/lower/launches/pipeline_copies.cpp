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
// the copy would be issued, and stored into the slot behind the body. Beside instructions of
// warpgroups, what is made of single elements is made of them in the slot, when they are there.
//
// Copies that the schedule wants in bulk (bulk_form.h) are made by the device when the first thread
// asks for them, and all threads wait for them at a counter of the slot. Where blocks of a cluster
// share them, these meet wherever threads of a block do.
//
// A body of nothing but instructions of warpgroups runs beside the next iteration: what it reads is
// free when the one after that begins, and copies go one slot less ahead.
//
//   for i in extent:
//     wait(N - 3); barrier
//     body(i); close its group
//     if i + N - 2 < extent: copy(i + N - 2) into slot (i + N - 2) % N
//     commit
//     wait for all instructions but those of body(i)
//   wait for all instructions
#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "compiler/ir/nodes/intrinsics.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/lower/launches/bulk_form.h"
#include "compiler/lower/launches/copy_forms.h"
#include "compiler/lower/launches/matrix_groups.h"
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
  std::vector<std::int64_t> bulk;  // for how many blocks each is copied in bulk; 0: not so
};

Note parse_note(const std::string& text) {
  Note note;
  const char* end = text.data() + text.size();
  const char* at = std::from_chars(text.data(), end, note.buffers).ptr;
  while (at < end) {
    const char* next = std::find(++at, end, ' ');
    const char* name_end = std::find(at, next, '=');
    note.names.emplace_back(at, name_end);
    note.bulk.push_back(0);
    if (name_end != next) std::from_chars(name_end + 1, next, note.bulk.back());
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
  PipelinedLoop(const ir::For& loop, const Note& note, const LaunchLoops& launch)
      : loop_(loop), launch_(launch), buffers_(note.buffers) {
    const auto* extent = ir::as_int(loop.extent);
    CHECK(extent && ir::is_const_int(loop.min, 0), "a pipelined loop is as the nest has it");
    extent_ = *extent;
    take_apart(note);
    overlapped_ = buffers_ > 2 && only_warpgroup_calls(ir::block(rest_));
    ahead_ = buffers_ - (overlapped_ ? 2 : 1);
  }

  Stmt rewritten(const ir::Ranges& around) {
    const Expr i = ir::var(loop_.var);
    const Expr later = i + Expr(ahead_);
    const Expr runs = later < Expr(extent_);
    const ir::Ranges inside = around.with_loop(loop_.var, loop_.min, loop_.extent);
    find_bulk(around);
    find_changed(around);
    const auto [fetch, issue, put] = copies_ahead(later, inside.assume(runs));
    Stmt rest = ir::block(rest_);
    for (const Copy& copy : copies_) {
      rest = with_loads(rest, {copy.from, copy.to, i % Expr(buffers_)});
    }
    std::vector<Stmt> body;
    if (any_async()) body.push_back(call(ir::kAsyncWait, {Expr(ahead_ - 1)}));
    for (const Copy& copy : copies_) {
      if (!copy.counters) continue;
      body.push_back(call(ir::kBulkWait, {ir::load(copy.counters, {i % Expr(buffers_)}),
                                          i / Expr(buffers_) % Expr(2)}));
    }
    for (const Copy& copy : copies_) {
      if (copy.change) body.push_back(copy.change);
    }
    add_meeting(body);
    if (!fetch.empty()) body.push_back(ir::if_then(runs, ir::block(fetch)));
    if (overlapped_) body.push_back(one_matrix_group(rest));
    if (!issue.empty()) body.push_back(ir::if_then(runs, ir::block(issue)));
    if (any_async()) body.push_back(call(ir::kAsyncCommit));
    if (!overlapped_) body.push_back(rest);
    if (!put.empty()) body.push_back(ir::if_then(runs, ir::block(put)));
    if (overlapped_) body.push_back(call(ir::kMatrixWait, {Expr(1)}));
    ir::For steady = loop_;
    std::erase_if(steady.notes, [](const auto& n) { return n.first == schedule::kPipelineNote; });
    steady.body = ir::block(std::move(body));
    for (auto b = kept_.rbegin(); b != kept_.rend(); ++b) {
      steady.body = ir::allocate(*b, steady.body);
    }
    std::vector<Stmt> parts{prologue(around), ir::make_stmt(std::move(steady))};
    if (overlapped_) parts.push_back(call(ir::kMatrixWait, {Expr(0)}));
    Stmt whole = ir::block(std::move(parts));
    for (auto c = copies_.rbegin(); c != copies_.rend(); ++c) {
      whole = ir::allocate(c->to, whole);
      if (c->counters) whole = ir::allocate(c->counters, whole);
    }
    return whole;
  }

 private:
  struct Copy {
    ir::Buffer from, to;
    Stmt nest;
    std::int64_t bulk = 0;     // blocks that it is wanted for in bulk
    ir::Buffer counters = {};  // of arrivals, when it is
    Stmt change = {};          // of what has arrived, by those who copied it
  };
  // Statements that begin copies for an iteration ahead: read into registers, begun at once, and
  // put where they belong when the buffers are free.
  struct Ahead {
    std::vector<Stmt> fetch, issue, put;
  };

  Ahead copies_ahead(const Expr& later, const ir::Ranges& ranges) {
    Ahead ahead;
    for (const Copy& copy : copies_) {
      const Slot slot{copy.from, copy.to, later % Expr(buffers_)};
      const Stmt nest = ir::substitute(copy.nest, {{loop_.var, later}});
      if (copy.counters) {
        async_.push_back(false);
        ahead.issue.push_back(bulk_copy(copy, nest, slot, ranges));
        continue;
      }
      const auto async = asynchronous(nest, slot, ranges);
      async_.push_back(async.has_value());
      if (async) {
        ahead.issue.push_back(*async);
        continue;
      }
      Staged parts = staged(nest, slot);
      kept_.push_back(parts.held);
      (overlapped_ ? ahead.fetch : ahead.issue).push_back(parts.fetch);
      ahead.put.push_back(parts.put);
    }
    return ahead;
  }

  // Beside instructions that nobody waits for there is no time to wait for registers: what cannot
  // be copied as it is wanted is changed where it lies.
  void find_changed(const ir::Ranges& around) {
    const ir::Ranges inside = around.with_loop(loop_.var, loop_.min, loop_.extent);
    for (Copy& copy : copies_) {
      const Slot slot{copy.from, copy.to, ir::var(loop_.var) % Expr(buffers_)};
      if (!overlapped_ || copy.counters || asynchronous(copy.nest, slot, inside)) continue;
      const auto parts = changed(copy.nest, slot);
      if (!parts || !asynchronous(parts->nest, slot, inside)) continue;
      copy.nest = parts->nest;
      copy.change = parts->change;
    }
  }

  // Which copies are in bulk, and the cluster that shares them.
  void find_bulk(const ir::Ranges& around) {
    for (Copy& copy : copies_) {
      if (copy.bulk == 0) continue;
      const Slot slot{copy.from, copy.to, Expr(0)};
      const auto form = in_bulk(copy.nest, slot, launch_, copy.bulk,
                                around.with_loop(loop_.var, loop_.min, loop_.extent));
      if (!form) continue;
      copy.counters =
          ir::make_buffer(copy.from->name + ".arrivals", ir::kI64, {buffers_}, ir::Scope::Shared);
      if (form->blocks > 1) cluster_ = form->blocks, cluster_axis_ = form->axis;
    }
    // Others of the cluster are not waited for.
    for (Copy& copy : copies_) copy.bulk = cluster_;
  }

  Stmt bulk_copy(const Copy& copy, const Stmt& nest, const Slot& slot,
                 const ir::Ranges& ranges) const {
    const auto form = in_bulk(nest, slot, launch_, copy.bulk, ranges);
    CHECK(form, "what is in one piece in general is so in every iteration");
    return ir::if_then(
        launch_.is_first(),
        call(ir::kBulkCopy, {form->to, form->from, Expr(form->elements),
                             ir::load(copy.counters, {slot.number}), Expr(form->blocks)}));
  }

  // Threads of the block meet, and blocks of the cluster where there is one.
  void add_meeting(std::vector<Stmt>& body) const {
    if (cluster_ > 1) {
      body.push_back(call(ir::kClusterBarrier, {Expr(cluster_), Expr(cluster_axis_)}));
    }
    body.push_back(ir::make_stmt(ir::Barrier{ir::Scope::Shared}));
  }

  bool any_async() const { return std::find(async_.begin(), async_.end(), true) != async_.end(); }

  void take_apart(const Note& note) {
    Stmt body = loop_.body;
    while (const auto* storage = ir::as<ir::Allocate>(body)) {
      const ir::Buffer& buffer = storage->buffer;
      const auto named = std::find(note.names.begin(), note.names.end(), buffer->name);
      if (named == note.names.end()) {
        kept_.push_back(buffer);
      } else {
        // A loop that ends before all are filled needs no more.
        std::vector<std::int64_t> shape{std::min(buffers_, extent_)};
        shape.insert(shape.end(), buffer->shape.begin(), buffer->shape.end());
        copies_.push_back({buffer,
                           ir::make_buffer(buffer->name, buffer->type, shape, buffer->scope),
                           {},
                           note.bulk[static_cast<std::size_t>(named - note.names.begin())]});
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
    const std::int64_t iterations = std::min(ahead_, extent_);
    const ir::Ranges inside = around.with_loop(variable, Expr(0), Expr(iterations));
    std::vector<Stmt> body, all;
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      const Slot slot{copies_[i].from, copies_[i].to, ir::var(variable)};
      const Stmt nest = ir::substitute(copies_[i].nest, {{loop_.var, ir::var(variable)}});
      if (copies_[i].counters) {
        all.push_back(ir::if_then(
            launch_.is_first(),
            call(ir::kBulkInit, {ir::load(copies_[i].counters, {Expr(0)}), Expr(buffers_)})));
        body.push_back(bulk_copy(copies_[i], nest, slot, inside));
        continue;
      }
      const auto async = async_[i] ? asynchronous(nest, slot, inside) : std::nullopt;
      body.push_back(async ? *async : stored(nest, slot));
    }
    if (any_async()) body.push_back(call(ir::kAsyncCommit));
    if (!all.empty()) add_meeting(all);
    all.push_back(ir::for_loop(variable, 0, iterations, ir::block(std::move(body))));
    for (std::int64_t i = iterations; any_async() && i < ahead_; ++i) {
      all.push_back(call(ir::kAsyncCommit));
    }
    return ir::block(std::move(all));
  }

  const ir::For& loop_;
  const LaunchLoops& launch_;
  std::int64_t cluster_ = 1, cluster_axis_ = 0;
  std::int64_t buffers_, extent_ = 0;
  bool overlapped_ = false;  // with what follows the body
  std::int64_t ahead_ = 0;   // of the iteration that reads them, copies are issued
  std::vector<Copy> copies_;
  std::vector<bool> async_;       // of each copy
  std::vector<ir::Buffer> kept_;  // of each iteration
  std::vector<Stmt> rest_;
};

LaunchLoops with_axis(LaunchLoops launch, const ir::For* loop) {
  if (!loop || loop->kind != ir::LoopKind::Bound) return launch;
  const auto* extent = ir::as_int(loop->extent);
  CHECK(extent, "axes of launches have constant extents");
  const bool block = loop->axis.starts_with("block");
  (block ? launch.blocks : launch.threads).push_back({loop->var, loop->axis, *extent});
  return launch;
}

Stmt pipelined(const Stmt& s, const ir::Ranges& ranges, const LaunchLoops& launch) {
  const auto* outer = ir::as<ir::For>(s);
  const ir::Ranges inner = outer ? ranges.with_loop(outer->var, outer->min, outer->extent) : ranges;
  const LaunchLoops within = with_axis(launch, outer);
  const Stmt mapped = ir::map_children(
      s, [&](const Stmt& child) { return pipelined(child, inner, within); },
      [](const Expr& e) { return e; });
  const auto* loop = ir::as<ir::For>(mapped);
  if (!loop) return mapped;
  const auto note = std::find_if(loop->notes.begin(), loop->notes.end(),
                                 [](const auto& n) { return n.first == schedule::kPipelineNote; });
  if (note == loop->notes.end()) return mapped;
  return PipelinedLoop(*loop, parse_note(note->second), within).rewritten(ranges);
}

}  // namespace

Stmt pipeline_copies(const Stmt& s) { return pipelined(s, {}, {}); }

}  // namespace attune::lower
