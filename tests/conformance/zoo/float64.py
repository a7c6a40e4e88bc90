"""Evaluates the zoo's models in double precision, by the definitions of their operators.

What it computes is the yardstick for the rounding errors of runtimes that compute in f32. Needs
numpy and onnx; import it inside the peers' environment.
"""
import math

import numpy
import onnx
from numpy.lib.stride_tricks import sliding_window_view
from onnx import numpy_helper

error_function = numpy.vectorize(math.erf, otypes=[numpy.float64])


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def padded(x, pads, value):
    half = len(pads) // 2
    return numpy.pad(x, [(0, 0), (0, 0), *zip(pads[:half], pads[half:])], constant_values=value)


def windows(x, kernel, strides, pads, value, ceil=False):
    """[batch, channels, rows, columns, kernel rows, kernel columns]."""
    pads = list(pads)
    if ceil:  # as far as a window that begins inside needs
        for axis in range(2):
            room = x.shape[2 + axis] + pads[axis] + pads[2 + axis] - kernel[axis]
            pads[2 + axis] += -room % strides[axis]
    view = sliding_window_view(padded(x, pads, value), kernel, axis=(2, 3))
    return view[:, :, ::strides[0], ::strides[1]]


def conv(a, x, weights, bias=None):
    groups = a.get("group", 1)
    view = windows(x, weights.shape[2:], a["strides"], a["pads"], 0.0)
    batch, channels, rows, columns = view.shape[:4]
    inputs, outputs = channels // groups, weights.shape[0] // groups
    results = []
    for group in range(groups):
        part = view[:, group * inputs:(group + 1) * inputs].transpose(0, 2, 3, 1, 4, 5)
        matrix = part.reshape(batch * rows * columns, -1)
        filters = weights[group * outputs:(group + 1) * outputs].reshape(outputs, -1)
        results.append((matrix @ filters.T).reshape(batch, rows, columns, outputs))
    y = numpy.concatenate(results, axis=3).transpose(0, 3, 1, 2)
    return y if bias is None else y + bias[:, None, None]


def conv_transpose(a, x, weights):
    stride, pads = a["strides"], a["pads"]
    batch, inputs, height, width = x.shape
    outputs, rows, columns = weights.shape[1:]
    full = numpy.zeros((batch, outputs, (height - 1) * stride[0] + rows,
                        (width - 1) * stride[1] + columns))
    for r in range(rows):
        for c in range(columns):
            part = numpy.einsum("bihw,io->bohw", x, weights[:, :, r, c])
            full[:, :, r:r + height * stride[0]:stride[0], c:c + width * stride[1]:stride[1]] += part
    return full[:, :, pads[0]:full.shape[2] - pads[2], pads[1]:full.shape[3] - pads[3]]


def max_pool(a, x):
    return windows(x, a["kernel_shape"], a["strides"], a["pads"], -numpy.inf,
                   a.get("ceil_mode", 0)).max(axis=(4, 5))


def average_pool(a, x):
    return windows(x, a["kernel_shape"], a["strides"], a["pads"], 0.0).mean(axis=(4, 5))


def batch_norm(a, x, scale, shift, mean, variance):
    factor = scale / numpy.sqrt(variance + a["epsilon"])
    return (x - mean[:, None, None]) * factor[:, None, None] + shift[:, None, None]


def layer_norm(a, x, scale, shift):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred ** 2).mean(axis=-1, keepdims=True)
    return centred / numpy.sqrt(variance + a["epsilon"]) * scale + shift


def softmax(a, x):
    powers = numpy.exp(x - x.max(axis=a["axis"], keepdims=True))
    return powers / powers.sum(axis=a["axis"], keepdims=True)


def lstm(a, x, w, r, b, lengths, hidden, cell):
    size = a["hidden_size"]
    h, c, sequence = hidden[0], cell[0], []
    for step in x:
        gates = step @ w[0].T + h @ r[0].T + b[0][:4 * size] + b[0][4 * size:]
        i, o, f, g = numpy.split(gates, 4, axis=-1)
        c = sigmoid(f) * c + sigmoid(i) * numpy.tanh(g)
        h = sigmoid(o) * numpy.tanh(c)
        sequence.append(h[None])
    return numpy.stack(sequence), h[None], c[None]


def cut(a, x, starts, ends, axes):
    index = [slice(None)] * x.ndim
    for start, end, axis in zip(starts, ends, axes):
        index[axis] = slice(start, end)
    return x[tuple(index)]


OPERATORS = {
    "Add": lambda a, x, y: x + y,
    "AveragePool": average_pool,
    "BatchNormalization": batch_norm,
    "Clip": lambda a, x, low, high: numpy.clip(x, low, high),
    "Concat": lambda a, *parts: numpy.concatenate(parts, axis=a["axis"]),
    "Conv": conv,
    "ConvTranspose": conv_transpose,
    "Div": lambda a, x, y: x / y,
    "Erf": lambda a, x: error_function(x),
    "Flatten": lambda a, x: x.reshape(x.shape[0], -1),
    "Gather": lambda a, x, index: numpy.take(x, index, axis=a.get("axis", 0)),
    "Gemm": lambda a, x, w, b: x @ w.T + b,
    "GlobalAveragePool": lambda a, x: x.mean(axis=(2, 3), keepdims=True),
    "LSTM": lstm,
    "LayerNormalization": layer_norm,
    "MatMul": lambda a, x, y: x @ y,
    "MaxPool": max_pool,
    "Mul": lambda a, x, y: x * y,
    "Relu": lambda a, x: numpy.maximum(x, 0),
    "Reshape": lambda a, x, shape: x.reshape(shape),
    "Slice": cut,
    "Softmax": softmax,
    "Squeeze": lambda a, x, axes: x.squeeze(tuple(axes)),
    "Tanh": lambda a, x: numpy.tanh(x),
    "Transpose": lambda a, x: x.transpose(a["perm"]),
}


def widened(array):
    return array.astype(numpy.float64) if array.dtype == numpy.float32 else array


def evaluate(path, inputs):
    """The model's outputs by name, in double precision."""
    graph = onnx.load(path).graph
    values = {name: widened(array) for name, array in inputs.items()}
    values.update({t.name: widened(numpy_helper.to_array(t)) for t in graph.initializer})
    values[""] = None
    for node in graph.node:
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        results = OPERATORS[node.op_type](attributes, *(values[name] for name in node.input))
        results = results if isinstance(results, tuple) else (results,)
        values.update(zip(node.output, results))
    return {output.name: values[output.name] for output in graph.output}
