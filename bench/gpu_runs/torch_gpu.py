"""cuDNN and cuBLAS through PyTorch: operators and models in CUDA graphs, timed by events."""
import statistics
import subprocess

import torch

import torch_engine
from workloads import CALLS, Conv, Depthwise

REPLAYS = 15   # of which the median counts
TYPES = {"f32": torch.float32, "tf32": torch.float32, "f16": torch.float16,
         "bf16": torch.bfloat16}


def card_now():
    """Clocks, temperature and power of the card, as its own tool says; nothing where that is not."""
    wanted = "driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw"
    try:
        run = subprocess.run(["nvidia-smi", f"--query-gpu={wanted}", "--format=csv,noheader"],
                             capture_output=True, text=True, check=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    return dict(zip(wanted.split(","), run.stdout.splitlines()[0].split(", ")))


def facts():
    device = torch.cuda.get_device_properties(0)
    return {"card": device.name, "torch": torch.__version__,
            "cudnn": torch.backends.cudnn.version(), "cuda": torch.version.cuda,
            "now": card_now()}


def use(precision):
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = precision == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"


def normal(shape, precision):
    return torch.randn(shape, device="cuda").to(TYPES[precision])


def graph_us(run, calls):
    """The median time of a call in a graph of so many."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            run()
    times = []
    for turn in range(REPLAYS + 3):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        if turn >= 3:
            times.append(begin.elapsed_time(end) * 1e3 / calls)
    return statistics.median(times)


LAYOUTS = {"NCHW": torch.contiguous_format, "NHWC": torch.channels_last}


def convolution(work, precision, layout):
    """A function that calls it on an input and weights of its own."""
    depthwise = isinstance(work, Depthwise)
    inputs, outputs = (work.channels,) * 2 if depthwise else (work.inputs, work.outputs)
    groups, kernel = (work.channels, 3) if depthwise else (1, work.kernel)
    x = normal((1, inputs, work.size, work.size), precision).to(memory_format=layout)
    w = normal((outputs, inputs // groups, kernel, kernel), precision).to(memory_format=layout)
    return lambda: torch.nn.functional.conv2d(x, w, None, work.stride, kernel // 2, 1, groups)


def fastest(found):
    best = min(found, key=found.get)
    return found[best], best


@torch.inference_mode()
def sequence_us(works, precision):
    use(precision)
    found = {}
    for name, layout in LAYOUTS.items():
        calls = [convolution(work, precision, layout) for work in works]
        found[name] = graph_us(lambda: [call() for call in calls], 1)
    return fastest(found)


@torch.inference_mode()
def operator_us(work, precision):
    """The fastest of the layouts that the library offers, and which that is."""
    use(precision)
    if isinstance(work, (Conv, Depthwise)):
        return fastest({name: graph_us(convolution(work, precision, layout), CALLS)
                        for name, layout in LAYOUTS.items()})
    a, b = normal((work.m, work.k), precision), normal((work.k, work.n), precision)
    by_rows = b.t().contiguous().t()
    return fastest({"NN": graph_us(lambda: a @ b, CALLS), "NT": graph_us(lambda: a @ by_rows, CALLS)})


def folded(graph, constants):
    """Batch norms become part of the convolutions before them."""
    import onnx

    made = {out: node for node in graph.node for out in node.output}
    uses = {}
    for node in graph.node:
        for name in node.input:
            uses[name] = uses.get(name, 0) + 1
    kept, renamed = [], {}
    for node in graph.node:
        before = made.get(node.input[0]) if node.input else None
        is_norm = node.op_type == "BatchNormalization"
        if not (is_norm and before is not None and before.op_type == "Conv" and
                uses[node.input[0]] == 1):
            kept.append(node)
            continue
        epsilon = next((a.f for a in node.attribute if a.name == "epsilon"), 1e-5)
        scale, shift, mean, variance = (constants[name] for name in node.input[1:5])
        factor = scale / torch.sqrt(variance + epsilon)
        weights = before.input[1]
        bias = constants[before.input[2]] if len(before.input) > 2 else 0
        constants[weights] = constants[weights] * factor[:, None, None, None]
        constants[f"{weights}.bias"] = shift + (bias - mean) * factor
        del before.input[2:]
        before.input.append(f"{weights}.bias")
        renamed[node.output[0]] = node.input[0]
    for node in kept:
        for i, name in enumerate(node.input):
            node.input[i] = renamed.get(name, name)
    del graph.node[:]
    graph.node.extend(kept)
    return onnx


class Model(torch_engine.Torch):
    """A model of the zoo on the device. Integers that say shapes stay with the host."""

    def __init__(self, path, inputs, precision, channels_last):
        import onnx

        self.load(path, inputs, 1)
        graph = onnx.load(path).graph
        floats = {name for name, value in self.constants.items()
                  if value is not None and value.is_floating_point()}
        folded(graph, self.constants)
        table = torch_engine.operators(torch)
        self.nodes = [(table[node.op_type],
                       {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}, {},
                       list(node.input), list(node.output)) for node in graph.node]
        for name, value in self.constants.items():
            if value is None:
                continue
            if value.dim() > 0 and (name in floats or value.is_floating_point()):
                value = value.to("cuda", TYPES[precision])
                if channels_last and value.dim() == 4:
                    value = value.to(memory_format=torch.channels_last)
            elif name in inputs:
                value = value.to("cuda")
            self.constants[name] = value


@torch.inference_mode()
def model_us(path, inputs, precision):
    use(precision)
    found = {}
    for name, channels_last in (("NCHW", False), ("NHWC", True)):
        model = Model(path, inputs, precision, channels_last)
        found[name] = graph_us(model.run, 1)
    return fastest(found)
