"""PyTorch, eager: the nodes of an ONNX model called one after the other, as a module would.

Knows the operators of the zoo. Needs torch and onnx in the peers' environment.
"""
import numpy


def symmetric(pads):
    half = len(pads) // 2
    if list(pads[:half]) != list(pads[half:]):
        raise ValueError(f"paddings {list(pads)} differ between begin and end")
    return list(pads[:half])


def lstm_module(torch, a, w, r, b):
    """ONNX orders the gates input, output, forget, cell; PyTorch input, forget, cell, output."""
    size = a["hidden_size"]

    def ordered(matrix):
        i, o, f, c = matrix.split(size)
        return torch.cat([i, f, c, o])

    module = torch.nn.LSTM(w.shape[2], size)
    module.weight_ih_l0.data = ordered(w[0])
    module.weight_hh_l0.data = ordered(r[0])
    module.bias_ih_l0.data = ordered(b[0][:4 * size])
    module.bias_hh_l0.data = ordered(b[0][4 * size:])
    return module.eval()


def run_lstm(torch, a, cache, x, w, r, b, lengths, hidden, cell):
    if "module" not in cache:
        cache["module"] = lstm_module(torch, a, w, r, b)
    y, (h, c) = cache["module"](x, (hidden, cell))
    return y[:, None], h, c


def cut(x, starts, ends, axes):
    for start, end, axis in zip(starts.tolist(), ends.tolist(), axes.tolist()):
        x = x.narrow(axis, start, end - start)
    return x


def gather(a, x, index):
    axis = a.get("axis", 0)
    if axis == 0 and x.dim() == 2:
        from torch.nn.functional import embedding

        return embedding(index, x)
    if index.dim() == 0:
        return x.select(axis, int(index))
    return x.index_select(axis, index.reshape(-1)).reshape(
        x.shape[:axis] + index.shape + x.shape[axis + 1:])


def operators(torch):
    """Name of the operator to function(attributes, cache of the node, operands...)."""
    f = torch.nn.functional
    return {
        "Add": lambda a, k, x, y: x + y,
        "AveragePool": lambda a, k, x: f.avg_pool2d(x, a["kernel_shape"], a["strides"],
                                                    symmetric(a["pads"])),
        "BatchNormalization": lambda a, k, x, s, b, m, v: f.batch_norm(x, m, v, s, b,
                                                                       eps=a["epsilon"]),
        "Clip": lambda a, k, x, low, high: f.hardtanh(x, float(low), float(high)),
        "Concat": lambda a, k, *parts: torch.cat(parts, a["axis"]),
        "Conv": lambda a, k, x, w, b=None: f.conv2d(x, w, b, a["strides"], symmetric(a["pads"]), 1,
                                                    a["group"]),
        "ConvTranspose": lambda a, k, x, w: f.conv_transpose2d(x, w, None, a["strides"],
                                                               symmetric(a["pads"])),
        "Div": lambda a, k, x, y: x / y,
        "Erf": lambda a, k, x: torch.erf(x),
        "Flatten": lambda a, k, x: x.flatten(1),
        "Gather": lambda a, k, x, index: gather(a, x, index),
        "Gemm": lambda a, k, x, w, b: f.linear(x, w, b),
        "GlobalAveragePool": lambda a, k, x: f.adaptive_avg_pool2d(x, 1),
        "LSTM": lambda a, k, *operands: run_lstm(torch, a, k, *operands),
        "LayerNormalization": lambda a, k, x, s, b: f.layer_norm(x, s.shape, s, b, a["epsilon"]),
        "MatMul": lambda a, k, x, y: x @ y,
        "MaxPool": lambda a, k, x: f.max_pool2d(x, a["kernel_shape"], a["strides"],
                                                symmetric(a["pads"]), ceil_mode=bool(a["ceil_mode"])),
        "Mul": lambda a, k, x, y: x * y,
        "Relu": lambda a, k, x: torch.relu(x),
        "Reshape": lambda a, k, x, shape: x.reshape(shape.tolist()),
        "Slice": lambda a, k, x, starts, ends, axes: cut(x, starts, ends, axes),
        "Softmax": lambda a, k, x: torch.softmax(x, a["axis"]),
        "Squeeze": lambda a, k, x, axes: x.squeeze(axes.tolist()),
        "Tanh": lambda a, k, x: torch.tanh(x),
        "Transpose": lambda a, k, x: x.permute(a["perm"]),
    }


class Torch:
    def load(self, model, inputs, threads):
        import onnx
        import torch
        from onnx import numpy_helper

        torch.set_num_threads(threads)
        self.torch = torch
        graph = onnx.load(model).graph
        table = operators(torch)
        unknown = {node.op_type for node in graph.node} - set(table)
        if unknown:
            raise RuntimeError(f"PyTorch is not told how to run {', '.join(sorted(unknown))}")
        self.constants = {t.name: torch.from_numpy(numpy_helper.to_array(t).copy())
                          for t in graph.initializer}
        self.constants.update({name: torch.from_numpy(numpy.ascontiguousarray(array))
                               for name, array in inputs.items()})
        self.constants[""] = None
        self.nodes = [(table[node.op_type],
                       {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}, {},
                       list(node.input), list(node.output)) for node in graph.node]
        self.outputs = [output.name for output in graph.output]

    def run(self):
        with self.torch.inference_mode():
            values = dict(self.constants)
            for function, attributes, cache, names, results in self.nodes:
                made = function(attributes, cache, *(values[name] for name in names))
                values.update(zip(results, made if isinstance(made, tuple) else (made,)))
            return values

    def results(self):
        values = self.run()
        return {name: values[name].numpy().copy() for name in self.outputs}
