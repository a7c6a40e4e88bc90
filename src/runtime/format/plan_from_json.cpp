#include <limits>

#include "runtime/format/json.h"
#include "runtime/format/plan_json.h"

namespace attune::runtime {
namespace {

// Reads values and remembers the first thing that was not as it should be; from then on it gives
// empty values, so that reading needs no check at every field.
class Reader {
 public:
  bool ok() const { return problem_.empty(); }
  Error error() const {
    return {ErrorCode::Corrupt, "the plan is malformed: " + problem_, "compile the model again"};
  }
  void fail(const std::string& problem) {
    if (ok()) problem_ = problem;
  }

  const Json& member(const Json& object, const char* key) {
    const Json* found = object.find(key);
    if (found == nullptr) fail(std::string("field '") + key + "' is missing");
    return found != nullptr ? *found : nothing_;
  }
  const Json& element(const Json& array, std::size_t index) {
    const JsonArray& items = list(array);
    if (index >= items.size()) fail("a list is too short");
    return index < items.size() ? items[index] : nothing_;
  }
  const JsonArray& list(const Json& value) { return expect<JsonArray>(value, no_items_, "list"); }
  const JsonObject& object(const Json& value) {
    return expect<JsonObject>(value, no_members_, "object");
  }
  const std::string& text(const Json& value) {
    return expect<std::string>(value, no_text_, "text");
  }
  bool flag(const Json& value) { return expect<bool>(value, no_flag_, "true or false"); }
  std::int64_t integer(const Json& value) {
    return expect<std::int64_t>(value, no_number_, "whole number");
  }
  std::int32_t small(const Json& value) {
    const std::int64_t number = integer(value);
    if (number < std::numeric_limits<std::int32_t>::min() ||
        number > std::numeric_limits<std::int32_t>::max()) {
      fail("the number " + std::to_string(number) + " is too large");
      return 0;
    }
    return static_cast<std::int32_t>(number);
  }
  double real(const Json& value) {
    if (const auto* number = value.get<double>()) return *number;
    if (const auto* number = value.get<std::int64_t>()) return static_cast<double>(*number);
    const std::string& word = text(value);
    if (word == "inf") return std::numeric_limits<double>::infinity();
    if (word == "-inf") return -std::numeric_limits<double>::infinity();
    if (word != "nan") fail("'" + word + "' is not a number");
    return std::numeric_limits<double>::quiet_NaN();
  }
  DType type(const Json& value) {
    const std::string& name = text(value);
    const auto found = parse_dtype(name);
    if (!found) fail("unknown element type '" + name + "'");
    return found.value_or(DType::F32);
  }

  template <typename Convert>
  auto all(const Json& value, Convert convert) {
    std::vector<decltype(convert(value))> items;
    for (const Json& item : list(value)) {
      if (!ok()) break;
      items.push_back(convert(item));
    }
    return items;
  }

 private:
  template <typename T>
  const T& expect(const Json& value, const T& otherwise, const char* what) {
    if (const T* found = value.get<T>()) return *found;
    fail(std::string("a ") + what + " is missing");
    return otherwise;
  }

  const Json nothing_;
  const JsonArray no_items_;
  const JsonObject no_members_;
  const std::string no_text_;
  const bool no_flag_ = false;
  const std::int64_t no_number_ = 0;
  std::string problem_;
};

std::vector<Dim> read_dims(Reader& reader, const Json& value) {
  return reader.all(value, [&](const Json& item) -> Dim {
    if (item.get<std::int64_t>() != nullptr) return {.maximum = reader.integer(item)};
    return {.maximum = reader.integer(reader.element(item, 0)),
            .extent = reader.small(reader.element(item, 1))};
  });
}

std::vector<InterfaceTensor> read_interface(Reader& reader, const Json& value) {
  return reader.all(value, [&](const Json& item) -> InterfaceTensor {
    const Json* channels = item.find("channels");
    const Json* most = item.find("most");
    const auto integer = [&](const Json& number) { return reader.integer(number); };
    return {.name = reader.text(reader.member(item, "name")),
            .type = reader.type(reader.member(item, "type")),
            .dims = read_dims(reader, reader.member(item, "dims")),
            .channels = channels == nullptr ? 0 : reader.integer(*channels),
            .most = most == nullptr ? std::vector<std::int64_t>() : reader.all(*most, integer)};
  });
}

Place read_place(Reader& reader, const Json& value) {
  const std::string& name = reader.text(value);
  if (name == "arena") return Place::Arena;
  if (name == "constant") return Place::Constant;
  if (name == "input") return Place::Input;
  if (name == "output") return Place::Output;
  if (name != "extents") reader.fail("unknown place '" + name + "'");
  return Place::Extents;
}

Space read_space(Reader& reader, const Json& value) {
  const std::string& name = reader.text(value);
  if (name != "device") reader.fail("unknown memory '" + name + "'");
  return Space::Device;
}

Buffer read_buffer(Reader& reader, const Json& value) {
  return {.place = read_place(reader, reader.element(value, 0)),
          .position = reader.integer(reader.element(value, 1)),
          .bytes = reader.integer(reader.element(value, 2)),
          .space = std::ssize(reader.list(value)) > 3 ? read_space(reader, reader.element(value, 3))
                                                      : Space::Host};
}

Kernel read_kernel(Reader& reader, const Json& value) {
  return {.symbol = reader.text(reader.member(value, "symbol")),
          .object = reader.small(reader.member(value, "object")),
          .workspace_bytes = reader.integer(reader.member(value, "workspace_bytes")),
          .arguments = reader.all(reader.member(value, "arguments"),
                                  [&](const Json& item) -> KernelArgument {
                                    return {.bytes = reader.integer(reader.element(item, 0)),
                                            .written = reader.flag(reader.element(item, 1))};
                                  })};
}

Operand read_operand(Reader& reader, const Json& value) {
  return {.buffer = reader.small(reader.element(value, 0)),
          .type = reader.type(reader.element(value, 1)),
          .dims = read_dims(reader, reader.element(value, 2))};
}

Attribute read_attribute(Reader& reader, const Json& value) {
  const auto integer = [&](const Json& item) { return reader.integer(item); };
  const auto real = [&](const Json& item) { return reader.real(item); };
  if (const Json* found = value.find("int")) return reader.integer(*found);
  if (const Json* found = value.find("float")) return reader.real(*found);
  if (const Json* found = value.find("string")) return reader.text(*found);
  if (const Json* found = value.find("ints")) return reader.all(*found, integer);
  return reader.all(reader.member(value, "floats"), real);
}

Block read_block(Reader& reader, const Json& value);

KernelCall read_kernel_call(Reader& reader, const Json& value) {
  return {.kernel = reader.small(reader.member(value, "kernel")),
          .buffers = reader.all(reader.member(value, "buffers"),
                                [&](const Json& item) { return reader.small(item); }),
          .layer = reader.text(reader.member(value, "layer")),
          .flops = reader.real(reader.member(value, "flops"))};
}

HostCall read_host_call(Reader& reader, const Json& value) {
  const auto operand = [&](const Json& item) { return read_operand(reader, item); };
  HostCall call{.op = reader.text(reader.member(value, "op")),
                .attributes = {},
                .inputs = reader.all(reader.member(value, "inputs"), operand),
                .outputs = reader.all(reader.member(value, "outputs"), operand),
                .layer = reader.text(reader.member(value, "layer"))};
  for (const auto& [name, attribute] : reader.object(reader.member(value, "attributes"))) {
    call.attributes.emplace(name, read_attribute(reader, attribute));
  }
  return call;
}

Copy read_copy(Reader& reader, const Json& value) {
  const Json& from = reader.member(value, "from");
  const Json& to = reader.member(value, "to");
  return {.from = reader.small(reader.element(from, 0)),
          .to = reader.small(reader.element(to, 0)),
          .bytes = reader.integer(reader.member(value, "bytes")),
          .from_offset = reader.integer(reader.element(from, 1)),
          .to_offset = reader.integer(reader.element(to, 1)),
          .from_step = reader.integer(reader.element(from, 2)),
          .to_step = reader.integer(reader.element(to, 2))};
}

If read_if(Reader& reader, const Json& value) {
  return {.condition = reader.small(reader.member(value, "condition")),
          .then_block = read_block(reader, reader.member(value, "then")),
          .else_block = read_block(reader, reader.member(value, "else"))};
}

Loop read_loop(Reader& reader, const Json& value) {
  return {.trip_count = reader.integer(reader.member(value, "trip_count")),
          .trip_count_buffer = reader.small(reader.member(value, "trip_count_buffer")),
          .condition = reader.small(reader.member(value, "condition")),
          .iteration = reader.small(reader.member(value, "iteration")),
          .iterations_extent = reader.small(reader.member(value, "iterations_extent")),
          .body = read_block(reader, reader.member(value, "body")),
          .layer = reader.text(reader.member(value, "layer"))};
}

Loop read_handing_loop(Reader& reader, const Json& value) {
  Loop loop = read_loop(reader, value);
  loop.handovers = reader.all(reader.member(value, "handovers"), [&](const Json& item) {
    return Handover{.now = reader.small(reader.element(item, 0)),
                    .next = reader.small(reader.element(item, 1))};
  });
  return loop;
}

Block read_block(Reader& reader, const Json& value) {
  return reader.all(value, [&](const Json& item) -> Instruction {
    const std::string& what = reader.text(reader.member(item, "do"));
    if (what == "kernel") return {read_kernel_call(reader, item)};
    if (what == "host") return {read_host_call(reader, item)};
    if (what == "copy") return {read_copy(reader, item)};
    if (what == "if") return {read_if(reader, item)};
    if (what == "loop") return {read_loop(reader, item)};
    if (what == "handing_loop") return {read_handing_loop(reader, item)};
    reader.fail("unknown instruction '" + what + "'");
    return {Copy{}};
  });
}

}  // namespace

Result<Plan> plan_from_json(std::string_view text) {
  ATTUNE_ASSIGN(const Json json, parse_json(text));
  Reader reader;
  Plan plan;
  const auto get = [&](const char* key) -> const Json& { return reader.member(json, key); };
  plan.model = reader.text(get("model"));
  plan.target = reader.text(get("target"));
  plan.architecture = reader.text(get("architecture"));
  plan.features = reader.all(get("features"), [&](const Json& item) { return reader.text(item); });
  plan.threads = reader.small(get("threads"));
  plan.inputs = read_interface(reader, get("inputs"));
  plan.outputs = read_interface(reader, get("outputs"));
  plan.extents = reader.small(get("extents"));
  plan.buffers =
      reader.all(get("buffers"), [&](const Json& item) { return read_buffer(reader, item); });
  plan.kernels =
      reader.all(get("kernels"), [&](const Json& item) { return read_kernel(reader, item); });
  plan.body = read_block(reader, get("body"));
  plan.arena_bytes = reader.integer(get("arena_bytes"));
  if (const Json* precision = json.find("precision")) plan.precision = reader.text(*precision);
  if (const Json* device = json.find("device")) {
    plan.device = reader.text(reader.member(*device, "kind"));
    if (const Json* arena = device->find("arena_bytes")) {
      plan.kernel_space = Space::Device;
      plan.device_arena_bytes = reader.integer(*arena);
    }
  }
  plan.workspace_bytes = reader.integer(get("workspace_bytes"));
  plan.peak_bytes = reader.integer(get("peak_bytes"));
  if (!reader.ok()) return reader.error();
  return plan;
}

}  // namespace attune::runtime
