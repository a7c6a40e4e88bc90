"""A model computed in double precision by ONNX's own reference evaluator. Needs onnx and numpy; import
it inside the peers' environment.

It settles whose rounding it is when two float32 runtimes differ: f32 weights, constants and casts are
widened, everything else stays as it is.
"""
import numpy
import onnx
from onnx import AttributeProto, TensorProto, numpy_helper
from onnx.reference import ReferenceEvaluator


def evaluate(path, inputs):
    """The outputs by name, computed in f64 wherever the model says f32."""
    model = onnx.load(str(path))
    widen_graph(model.graph)
    for function in model.functions:
        widen_nodes(function.node)
    wide = {name: array.astype(numpy.float64) if array.dtype == numpy.float32 else array
            for name, array in inputs.items()}
    names = [output.name for output in model.graph.output]
    return dict(zip(names, ReferenceEvaluator(model).run(names, wide)))


def widen_graph(graph):
    for tensor in graph.initializer:
        widen_tensor(tensor)
    for value in [*graph.input, *graph.output, *graph.value_info]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.DOUBLE
    widen_nodes(graph.node)


def widen_nodes(nodes):
    for node in nodes:
        for attribute in node.attribute:
            if attribute.type == AttributeProto.TENSOR:
                widen_tensor(attribute.t)
            elif attribute.type == AttributeProto.GRAPH:
                widen_graph(attribute.g)
            elif node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.DOUBLE


def widen_tensor(tensor):
    if tensor.data_type == TensorProto.FLOAT:
        wide = numpy_helper.to_array(tensor).astype(numpy.float64)
        tensor.CopyFrom(numpy_helper.from_array(wide, tensor.name))
