"""Which of ONNX's test cases Attune means to pass, and which operator a case is about.

Out of scope: training, strings, sequences, optionals and maps, floats of 8 bits, types of 4 bits and
fewer, decoding of images, classic machine learning (ai.onnx.ml), and random operators, whose values
nobody can predict. Needs the package onnx; import it inside the peers' environment.
"""
import onnx

TRAINING = {"Adagrad", "Adam", "Momentum", "Gradient"}
STRINGS = {"StringConcat", "StringNormalizer", "StringSplit", "RegexFullMatch", "TfIdfVectorizer"}
COLLECTIONS = {"ConcatFromSequence", "Optional", "OptionalGetElement", "OptionalHasElement",
               "SplitToSequence"}
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
          "RandomUniformLike"}
TYPES = {8: "strings", 17: "float8", 18: "float8", 19: "float8", 20: "float8", 24: "float8",
         21: "4-bit types", 22: "4-bit types", 23: "4-bit types", 25: "4-bit types",
         26: "4-bit types"}


def nodes_of(graph):
    """All nodes, those of subgraphs too."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in [attribute.g, *attribute.graphs]:
                yield from nodes_of(inner)


def attribute_of(node, name, default):
    for attribute in node.attribute:
        if attribute.name == name:
            return onnx.helper.get_attribute_value(attribute)
    return default


def reason_of_node(node):
    if node.domain in ("ai.onnx.preview.training", "ai.onnx.training") or node.op_type in TRAINING:
        return "training"
    if node.op_type == "BatchNormalization" and attribute_of(node, "training_mode", 0):
        return "training"
    if node.domain == "ai.onnx.ml":
        return "classic machine learning"
    if node.op_type in STRINGS:
        return "strings"
    if node.op_type.startswith("Sequence") or node.op_type in COLLECTIONS:
        return "sequences, optionals, maps"
    if node.op_type == "ImageDecoder":
        return "image decoding"
    if node.op_type in RANDOM:
        return "random values"
    if node.op_type in ("Cast", "CastLike"):
        return TYPES.get(attribute_of(node, "to", 0))
    return None


def reason_of_type(value_type):
    kind = value_type.WhichOneof("value")
    if kind in ("sequence_type", "optional_type", "map_type"):
        return "sequences, optionals, maps"
    return TYPES.get(value_type.tensor_type.elem_type)


def out_of_scope(model, name):
    """Why the case is left out; None when it counts."""
    if name.startswith("test_training_dropout"):
        return "training"
    nodes = list(nodes_of(model.graph))
    for function in model.functions:
        nodes += list(function.node)
    reasons = [reason_of_node(node) for node in nodes]
    reasons += [reason_of_type(v.type) for v in [*model.graph.input, *model.graph.output]]
    reasons += [TYPES.get(tensor.data_type) for tensor in model.graph.initializer]
    return next((reason for reason in reasons if reason), None)


def operator_of(model, twin):
    """The operator a case is about; `twin` is the model that an expanded case was made from."""
    nodes = (twin or model).graph.node
    return nodes[-1].op_type if len(nodes) else "(no node)"
