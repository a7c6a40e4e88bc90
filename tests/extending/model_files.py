"""Small files for the program to read: arrays (.npy) and an ONNX model of one node."""
import ast
import struct


def write_npy(path, shape, values):
    head = repr({"descr": "<f4", "fortran_order": False, "shape": tuple(shape)}).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head
                     + struct.pack(f"<{len(values)}f", *values))


def read_npy(path):
    data = path.read_bytes()
    length = struct.unpack_from("<H", data, 8)[0]
    head = ast.literal_eval(data[10:10 + length].decode())
    assert head["descr"] == "<f4", head
    body = data[10 + length:]
    return list(struct.unpack(f"<{len(body) // 4}f", body))


def varint(number):
    low, rest = number & 127, number >> 7
    return bytes([low | 128]) + varint(rest) if rest else bytes([low])


def field(number, value):
    """A field of a protobuf message: a number, or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def value_info(name, shape):
    dims = b"".join(field(1, field(1, extent)) for extent in shape)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))


def write_onnx(path, domain, op, inputs, shape):
    """A model of one node on f32 inputs of one shape, with the output `y`."""
    node = b"".join(field(1, name) for name in inputs) + field(2, "y") + field(4, op) + field(7, domain)
    graph = field(1, node) + field(2, op)
    graph += b"".join(field(11, value_info(name, shape)) for name in inputs)
    graph += field(12, value_info("y", shape))
    opsets = field(8, field(1, "") + field(2, 17)) + field(8, field(1, domain) + field(2, 1))
    path.write_bytes(field(1, 8) + field(7, graph) + opsets)
