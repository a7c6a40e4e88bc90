"""ONNX's test cases as folders that `attune check` takes: model.onnx and test_data_set_N.

Needs the package onnx; import it inside the peers' environment.
"""
import dataclasses
import pathlib

import numpy
import onnx
from onnx import numpy_helper

import scope

FOLDERS = ["node", "simple", "pytorch-converted", "pytorch-operator", "light"]


@dataclasses.dataclass
class Case:
    name: str
    folder: str  # one of FOLDERS
    path: pathlib.Path
    operator: str
    left_out: str | None  # the reason, for cases out of scope


def light_case(model_path, target):
    """A folder for a model of `light`, whose one input counts from 0 to 1."""
    model = onnx.load(str(model_path))
    weights = {tensor.name for tensor in model.graph.initializer}
    place, wanted = next((place, value) for place, value in enumerate(model.graph.input)
                         if value.name not in weights)
    shape = [dim.dim_value for dim in wanted.type.tensor_type.shape.dim]
    count = int(numpy.prod(shape))
    values = (numpy.arange(count, dtype=numpy.float32) / count).reshape(shape)
    data = target / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    tensor = numpy_helper.from_array(values.astype(numpy.float32), wanted.name)
    (data / f"input_{place}.pb").write_bytes(tensor.SerializeToString())
    expected = model_path.with_name(model_path.stem + "_output_0.pb")
    (data / "output_0.pb").write_bytes(expected.read_bytes())
    (target / "model.onnx").write_bytes(model_path.read_bytes())


def prepare_light(data, scratch):
    for model in sorted((data / "light").glob("*.onnx")):
        light_case(model, scratch / model.stem)


def load(path):
    return onnx.load(str(path), load_external_data=False)


def find_cases(data, scratch):
    """All cases below `data`; those of `light` are made in `scratch`."""
    prepare_light(data, scratch)
    cases = []
    for folder in FOLDERS:
        place = scratch if folder == "light" else data / folder
        for path in sorted(p for p in place.iterdir() if (p / "model.onnx").exists()):
            model = load(path / "model.onnx")
            twin = place / path.name.split("_expanded")[0]
            twin_model = None
            if "_expanded" in path.name and (twin / "model.onnx").exists():
                twin_model = load(twin / "model.onnx")
            operator = path.name if folder == "light" else scope.operator_of(model, twin_model)
            cases.append(Case(path.name, folder, path, operator,
                              scope.out_of_scope(model, path.name)))
    return cases
