"""Inputs for models: what the lines of tests/conformance/models.txt say, or what the model asks for.

Needs numpy; import it inside the peers' environment.
"""
import dataclasses
import pathlib
import re
import zlib

import numpy

LIST = pathlib.Path(__file__).resolve().parent.parent / "tests" / "conformance" / "models.txt"
INPUT = re.compile(r"(\S+) (\S+) \[([\d,]*)\](?: ([<=])(\S+))?$")


@dataclasses.dataclass
class Input:
    name: str
    dtype: str
    shape: tuple
    rule: str = ""  # "", "<" or "="
    value: str = ""

    def array(self, seed=0):
        """The same values every time, different ones for each name."""
        random = numpy.random.default_rng([seed, zlib.crc32(self.name.encode())])
        if self.rule == "<":
            return random.integers(0, int(self.value), self.shape).astype(self.dtype)
        if self.rule == "=":
            values = numpy.array([float(v) for v in self.value.split(",")])
            return numpy.resize(values, self.shape).astype(self.dtype)
        if numpy.issubdtype(numpy.dtype(self.dtype), numpy.floating):
            return random.standard_normal(self.shape).astype(self.dtype)
        return numpy.ones(self.shape, self.dtype)


@dataclasses.dataclass
class Model:
    name: str
    requirement: str
    path: str
    tolerance: str
    inputs: list


def listed_models():
    """The models of models.txt."""
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        name, requirement, path, tolerance, inputs = [part.strip() for part in line.split("|")]
        yield Model(name, requirement, path, tolerance,
                    [parse_input(text.strip()) for text in inputs.split(";")])


def parse_input(text):
    match = INPUT.match(text)
    if not match:
        raise ValueError(f"'{text}' is not an input as models.txt describes them")
    name, dtype, shape, rule, value = match.groups()
    dims = tuple(int(d) for d in shape.split(",") if d)
    return Input(name, dtype, dims, rule or "", value or "")


ONNX_TYPES = {"tensor(float)": "float32", "tensor(float16)": "float16", "tensor(double)": "float64",
              "tensor(int64)": "int64", "tensor(int32)": "int32", "tensor(int16)": "int16",
              "tensor(int8)": "int8", "tensor(uint8)": "uint8", "tensor(bool)": "bool"}


def asked_by(session, shapes, integers_below):
    """The inputs of an onnxruntime session. `shapes` overrides by name; free dimensions are 1."""
    inputs = []
    for wanted in session.get_inputs():
        dims = shapes.get(wanted.name)
        if dims is None:
            dims = tuple(d if isinstance(d, int) and d > 0 else 1 for d in wanted.shape)
        inputs.append(input_of(wanted.name, ONNX_TYPES[wanted.type], dims, integers_below))
    return inputs


def input_of(name, dtype, shape, integers_below):
    """One that nothing more is known of."""
    whole = dtype.startswith(("int", "uint"))
    return Input(name, dtype, tuple(shape), "<" if whole else "", str(integers_below) if whole else "")
