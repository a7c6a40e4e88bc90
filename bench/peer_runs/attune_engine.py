"""Attune behind the same methods as the others, through the C interface (src/runtime/attune.h)."""
import ctypes
import os

import numpy

MAX_RANK = 16
# In the order of AttuneType; bf16 has no numpy type.
TYPES = ["float32", "float16", None, "int8", "uint8", "int32", "int64", "bool", "float64", "int16",
         "uint16", "uint32", "uint64"]
ALIGNMENT = 64  # memory so aligned is used in place


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("message", ctypes.c_char * 512),
                ("hint", ctypes.c_char * 256)]


class TensorInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int), ("rank", ctypes.c_int32),
                ("shape", ctypes.c_int64 * MAX_RANK), ("bytes", ctypes.c_size_t)]


class Input(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int), ("rank", ctypes.c_int32),
                ("shape", ctypes.POINTER(ctypes.c_int64))]


class Output(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


def aligned(count):
    """Bytes at an aligned address."""
    memory = numpy.zeros(count + ALIGNMENT, numpy.uint8)
    skip = -memory.ctypes.data % ALIGNMENT
    return memory[skip:skip + count]


class Attune:
    """An artifact in the runtime library that ATTUNE_RUNTIME_LIBRARY names."""

    def load(self, model, inputs, threads):
        self.library = ctypes.CDLL(os.environ["ATTUNE_RUNTIME_LIBRARY"])
        for name in ("attune_thread_pool_create", "attune_model_load", "attune_session_create",
                     "attune_model_input", "attune_model_output", "attune_session_run",
                     "attune_session_output_shape"):
            getattr(self.library, name).restype = ctypes.c_int
        self.error = Error()
        self.pool, self.model, self.session = (ctypes.c_void_p() for _ in range(3))
        self.call("attune_thread_pool_create", ctypes.c_int32(threads), ctypes.byref(self.pool))
        self.call("attune_model_load", model.encode(), ctypes.byref(self.model))
        self.call("attune_session_create", self.model, self.pool, ctypes.byref(self.session))
        self.bind_inputs(inputs)
        self.bind_outputs()

    def call(self, name, *arguments):
        if getattr(self.library, name)(*arguments, ctypes.byref(self.error)) != 0:
            raise RuntimeError(f"{name}: {self.error.message.decode()}")

    def infos(self, kind):
        count = getattr(self.library, f"attune_model_{kind}_count")(self.model)
        for index in range(count):
            info = TensorInfo()
            self.call(f"attune_model_{kind}", self.model, ctypes.c_int32(index), ctypes.byref(info))
            yield info

    def bind_inputs(self, inputs):
        self.kept, bound = [], []
        for info in self.infos("input"):
            array = numpy.asarray(inputs[info.name.decode()], order="C")
            memory = aligned(array.nbytes)
            memory[:] = numpy.frombuffer(array.tobytes(), numpy.uint8)
            shape = (ctypes.c_int64 * MAX_RANK)(*array.shape)
            self.kept += [memory, shape]
            bound.append(Input(memory.ctypes.data, TYPES.index(array.dtype.name), array.ndim, shape))
        self.inputs = (Input * len(bound))(*bound)

    def bind_outputs(self):
        self.names, self.types, self.memory = [], [], []
        for info in self.infos("output"):
            self.names.append(info.name.decode())
            self.types.append(TYPES[info.type])
            self.memory.append(aligned(info.bytes))
        self.outputs = (Output * len(self.memory))(
            *(Output(memory.ctypes.data, memory.nbytes) for memory in self.memory))

    def run(self):
        if self.library.attune_session_run(self.session, self.inputs, len(self.inputs), self.outputs,
                                           len(self.outputs), ctypes.byref(self.error)) != 0:
            raise RuntimeError(self.error.message.decode())

    def results(self):
        self.run()
        found = {}
        for index, (name, dtype) in enumerate(zip(self.names, self.types)):
            rank, shape = ctypes.c_int32(), (ctypes.c_int64 * MAX_RANK)()
            self.call("attune_session_output_shape", self.session, ctypes.c_int32(index),
                      ctypes.byref(rank), shape)
            dims = tuple(shape[:rank.value])
            count = int(numpy.prod(dims, dtype=numpy.int64))
            found[name] = self.memory[index].view(dtype)[:count].reshape(dims).copy()
        return found
