"""Operators of random shapes: as specs of `attune bench`, or as ONNX files where specs have no words
for them.

Needs onnx; import it inside the peers' environment.
"""
import onnx
from onnx import TensorProto, helper

MOST_FLOPS, FEWEST_FLOPS = 1.5e9, 2e5


def channels(rng, most=512):
    """Odd numbers as often as those that fill vectors."""
    number = int(2 ** rng.uniform(2, 9))
    return min(most, number if rng.random() < 0.5 else max(8, number // 8 * 8))


def convolution(rng):
    size, kernel = rng.randint(5, 112), rng.choice([1, 1, 3, 3, 3, 5, 7])
    dilation = rng.choice([1, 1, 1, 2]) if kernel > 1 else 1
    pad = rng.choice([0, kernel // 2 * dilation])
    size = max(size, (kernel - 1) * dilation + 1)
    return {"n": rng.choice([1, 1, 1, 2, 4, 8]), "h": size, "w": max(size, rng.randint(5, 112)),
            "ic": channels(rng), "oc": channels(rng), "kh": kernel, "kw": kernel,
            "stride": rng.choice([1, 1, 2]), "pad": pad, "dilation": dilation}


def flat_convolution(rng):
    """Along one dimension, with a wide kernel at times."""
    kernel = rng.choice([1, 3, 5, 9, 15, 25])
    return {"h": 1, "w": rng.randint(50, 2000), "ic": channels(rng), "oc": channels(rng), "kh": 1,
            "kw": kernel, "pad": 0, "pad_w": kernel // 2, "stride": 1, "stride_w": rng.choice([1, 1, 2])}


def grouped_convolution(rng):
    groups, each = rng.choice([2, 4, 8, 32]), rng.choice([3, 4, 8, 16, 20])
    size = rng.randint(7, 56)
    return {"h": size, "w": size, "ic": groups * each, "oc": groups * each * rng.choice([1, 2]), "kh": 3,
            "kw": 3, "pad": 1, "groups": groups}


def depthwise(rng):
    size, kernel = rng.randint(7, 112), rng.choice([3, 3, 5, 7])
    return {"h": size, "w": size, "c": channels(rng), "k": kernel, "stride": rng.choice([1, 1, 2])}


def transposed_convolution(rng):
    size = rng.randint(4, 48)
    return {"h": size, "w": size, "ic": channels(rng, 256), "oc": channels(rng, 256), "kh": 4, "kw": 4,
            "stride": 2, "pad": 1}


def extents(rng):
    """Of a product: each dimension from one to thousands."""
    return {name: int(2 ** rng.uniform(low, high))
            for name, low, high in (("m", 0, 11), ("n", 2, 11), ("k", 3, 12))}


def product(rng):
    return extents(rng)


def batch_product(rng):
    return {"b": rng.choice([2, 4, 8, 12, 16]),
            **{name: int(2 ** rng.uniform(3, 9)) for name in ("m", "n", "k")}}


def rows(rng):
    return {"m": int(2 ** rng.uniform(3, 11)), "n": int(2 ** rng.uniform(5, 12))}


def transposed_product(rng):
    """Two activations, one or both of which lie the other way round."""
    return {**batch_product(rng), "which": rng.choice(["left", "right", "both"])}


def transposed_file(keys, folder):
    """The product as an ONNX file."""
    def operand(name, rows, columns, turned):
        lies = [keys["b"], columns, rows] if turned else [keys["b"], rows, columns]
        value = helper.make_tensor_value_info(name, TensorProto.FLOAT, lies)
        nodes = [helper.make_node("Transpose", [name], [name + "_t"], perm=[0, 2, 1])] if turned else []
        return value, nodes, name + "_t" if turned else name

    left, left_nodes, a = operand("a", keys["m"], keys["k"], keys["which"] != "right")
    right, right_nodes, b = operand("b", keys["k"], keys["n"], keys["which"] != "left")
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [keys["b"], keys["m"], keys["n"]])
    nodes = [*left_nodes, *right_nodes, helper.make_node("MatMul", [a, b], ["y"])]
    model = helper.make_model(helper.make_graph(nodes, "product", [left, right], [out]),
                              opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    file = folder / ("-".join(f"{key}{value}" for key, value in keys.items()) + ".onnx")
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, file)
    return str(file)


FAMILIES = [("conv2d", convolution, 6), ("conv2d", flat_convolution, 3),
            ("conv2d", grouped_convolution, 2), ("depthwise", depthwise, 2),
            ("conv2d_transpose", transposed_convolution, 1), ("matmul", product, 2),
            ("dense", product, 3), ("batch_matmul", batch_product, 2),
            ("transposed", transposed_product, 2), ("softmax", rows, 1),
            ("layernorm", rows, 1)]


def flops(name, keys):
    """Roughly: what the shape has to multiply."""
    if name in ("softmax", "layernorm"):
        return 10 * keys["m"] * keys["n"]
    if "m" in keys:
        return 2 * keys.get("b", 1) * keys["m"] * keys["n"] * keys["k"]
    pixels = keys.get("n", 1) * keys["h"] * keys["w"] / keys.get("stride", 1) ** 2
    if name == "depthwise":
        return 2 * pixels * keys["c"] * keys["k"] ** 2
    taps = keys["kh"] * keys["kw"]
    if name == "conv2d_transpose":
        pixels *= keys["stride"] ** 2
    return 2 * pixels * keys["ic"] * keys["oc"] * taps / keys.get("groups", 1)


def layers(rng, count, folder):
    """As a plan of bench_layers has them, all different; files go into the folder."""
    drawn = {}
    weights = [weight for _, _, weight in FAMILIES]
    while len(drawn) < count:
        name, draw, _ = rng.choices(FAMILIES, weights)[0]
        keys = draw(rng)
        if not FEWEST_FLOPS <= flops(name, keys) <= MOST_FLOPS:
            continue
        spec = f"{name}:" + ",".join(f"{key}={value}" for key, value in keys.items())
        model = transposed_file(keys, folder) if name == "transposed" else spec
        drawn[spec] = {"name": spec, "model": model}
    return list(drawn.values())
