"""Figures 10 and 11: single operators and whole networks against libraries, by bench/peers."""
import json
import subprocess
import time

import svg
import workloads

NETWORKS = ["resnet18", "mobilenet_v2", "squeezenet1_1", "dqn", "dcgan", "lstm_lm", "vgg19"]
ENGINES = {"attune": "Attune", "onnxruntime": "ONNX Runtime", "openvino": "OpenVINO"}
TUNING_SECONDS = {10: 5, 11: 60}  # of one operator, of one network
THREADS = {10: 1, 11: 2}
TITLES = {10: "Single operators against libraries", 11: "Whole networks against libraries"}


def write_operator(layer, path):
    """The convolution as a model of its own, with constant weights."""
    import numpy
    from onnx import helper, numpy_helper, save_model, TensorProto

    size, inputs, outputs, kernel, stride = workloads.CONVOLUTIONS[layer]
    random = numpy.random.default_rng(0)
    weights = random.standard_normal((outputs, inputs, kernel, kernel)).astype(numpy.float32)
    node = helper.make_node("Conv", ["x", "w"], ["y"], strides=[stride] * 2,
                            pads=[kernel // 2] * 4, kernel_shape=[kernel] * 2)
    shape, result = [1, inputs, size, size], [1, outputs, size // stride, size // stride]
    graph = helper.make_graph(
        [node], layer, [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, result)],
        [numpy_helper.from_array(weights, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    save_model(model, str(path))


def compared(file, threads):
    """The rows of a comparison, by model: those after tuning where there are both."""
    if not file.exists():
        return {}
    rows = json.loads(file.read_text(encoding="utf-8"))["results"]
    rows = [row for row in rows if row["threads"] == threads and "attune" in row["latency_ms"]]
    return {row["model"]: row for row in sorted(rows, key=lambda row: row["kind"], reverse=True)}


def add(number, peers, folder, file, seconds):
    """Compares what the file does not have yet, one model at a time while time is left."""
    end = time.monotonic() + seconds
    for name in workloads.CONVOLUTIONS if number == 10 else NETWORKS:
        if time.monotonic() > end:
            return
        if name in compared(file, THREADS[number]):
            continue
        model = name
        if number == 10:
            model = folder / f"{name}.onnx"
            write_operator(name, model)
        subprocess.run([*peers, str(model), "--tuned", "--seconds", str(TUNING_SECONDS[number]),
                        "--threads", str(THREADS[number]), "--json", str(file)],
                       stdout=subprocess.DEVNULL, check=True)


def figure(number, file):
    """Title, axis, panels and rows of the table."""
    found = compared(file, THREADS[number])
    order = list(workloads.CONVOLUTIONS) if number == 10 else sorted(found)
    rows, bars = [], {legend: [] for legend in ENGINES.values()}
    for name in [name for name in order if name in found]:
        times = found[name]["latency_ms"]
        fastest = min(times[engine] for engine in ENGINES if engine != "attune")
        for engine, legend in ENGINES.items():
            bars[legend].append((name, fastest / times[engine]))
            rows.append({"model": name, "engine": legend, "threads": found[name]["threads"],
                         "kind": found[name]["kind"], "ms": f"{times[engine]:.4f}",
                         "speed": f"{fastest / times[engine]:.3f}"})
    panels = [("", bars)] if rows else []
    return (f"Figure {number}. {TITLES[number]}", "speed relative to the faster library", panels,
            rows, svg.bar_panel)
