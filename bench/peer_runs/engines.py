"""The runtimes under comparison, each behind the same three methods: load, run, results.

Runs inside a worker process that is pinned already. `run` is what is timed: inputs are in place, and
the outputs are there when it returns.
"""
from attune_engine import Attune
from torch_engine import Torch


class Onnxruntime:
    """ONNX Runtime: all graph optimisations, threads that spin between operators."""

    def load(self, model, inputs, threads):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.add_session_config_entry("session.intra_op.allow_spinning", "1")
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(model, options,
                                                    providers=["CPUExecutionProvider"])
        self.inputs = inputs
        self.names = [output.name for output in self.session.get_outputs()]
        # Outputs are bound, so that no memory is taken for them at each run.
        self.binding = self.session.io_binding()
        for name, array in inputs.items():
            self.binding.bind_cpu_input(name, array)
        for name in self.names:
            self.binding.bind_output(name)

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def results(self):
        return dict(zip(self.names, self.session.run(self.names, self.inputs)))


class Openvino:
    """OpenVINO: tuned for latency, computing in f32."""

    def load(self, model, inputs, threads):
        import openvino

        core = openvino.Core()
        graph = core.read_model(model)
        shapes = {port: inputs[port.any_name].shape for port in graph.inputs
                  if port.partial_shape.is_dynamic}
        if shapes:
            graph.reshape(shapes)
        compiled = core.compile_model(graph, "CPU", {
            "PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads,
            "INFERENCE_PRECISION_HINT": "f32", "ENABLE_CPU_PINNING": False,
        })
        self.request = compiled.create_infer_request()
        self.outputs = compiled.outputs
        self.kept = inputs
        for port in compiled.inputs:
            self.request.set_tensor(port, openvino.Tensor(inputs[port.any_name], shared_memory=True))

    def run(self):
        self.request.infer()

    def results(self):
        self.request.infer()
        return {port.any_name: self.request.get_tensor(port).data.copy() for port in self.outputs}


ENGINES = {"attune": Attune, "onnxruntime": Onnxruntime, "openvino": Openvino,
           "torch": Torch}
