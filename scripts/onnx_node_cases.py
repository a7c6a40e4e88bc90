"""Writes the node cases of the installed package onnx as folders: model.onnx and test_data_set_0.

usage: onnx_node_cases.py FOLDER

Wheels from 1.23 on carry the functions that make these cases, but not the files. Run by
scripts/fetch_onnx_tests with the package on the path.
"""
import pathlib
import sys

import onnx
from onnx import numpy_helper
from onnx.backend.test.case import node


def message_of(value, info):
    """A tensor, list, dictionary or optional as the message that its type asks for."""
    if isinstance(value, onnx.TensorProto):
        return value
    kind = info.type.WhichOneof("value")
    make = {"map_type": numpy_helper.from_dict, "sequence_type": numpy_helper.from_list,
            "optional_type": numpy_helper.from_optional}.get(kind, numpy_helper.from_array)
    return make(value, info.name)


def write_case(case, folder):
    for number, data_set in enumerate(case.data_sets):
        place = folder / f"test_data_set_{number}"
        place.mkdir(parents=True, exist_ok=True)
        interface = [("input", case.model.graph.input), ("output", case.model.graph.output)]
        for (kind, infos), values in zip(interface, data_set):
            for index, (value, info) in enumerate(zip(values, infos)):
                (place / f"{kind}_{index}.pb").write_bytes(message_of(value, info).SerializeToString())
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())


def main():
    target = pathlib.Path(sys.argv[1])
    for case in node.collect_testcases():
        write_case(case, target / case.name)


if __name__ == "__main__":
    main()
