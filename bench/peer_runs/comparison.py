"""One model, Attune and other runtimes on it, in turns: what bench/peers and bench/threads share."""
import hashlib
import importlib
import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import peer_environment
import tree_build
from packages_fetched import cache_directory

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = [str(ROOT / "attune")]  # changed by --program
MODELS = ["resnet18", "resnet50", "mobilenet_v2", "vgg19", "densenet121", "inception_v3",
          "squeezenet1_1", "alexnet", "dqn", "dcgan", "lstm_lm", "lstm_lm_35", "bert_tiny", "mlp"]
PEERS = ("onnxruntime", "openvino", "torch")
# What a row keeps of how tuning went.
TUNING = ("wall_seconds", "trials", "trials_per_second", "device_busy", "search_share")
VOCABULARY = 10000  # integer inputs are tokens unless a rule says otherwise
# Names of types as `attune run` says them.
TYPES = {"f32": "float32", "f16": "float16", "f64": "float64", "i64": "int64", "i32": "int32",
         "i16": "int16", "i8": "int8", "u8": "uint8", "u16": "uint16", "bool": "bool"}


def add_arguments(parser, threads, peers, seconds):
    parser.add_argument("models", nargs="*", metavar="MODEL|FILE")
    parser.add_argument("--threads", default=threads, metavar="N,N")
    parser.add_argument("--peers", default=peers, metavar="NAME,NAME")
    parser.add_argument("--python", metavar="PROGRAM", help="an interpreter that has peers installed")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--bursts", type=int, default=3, help="in each round")
    parser.add_argument("--burst-seconds", type=float, default=0.05)
    parser.add_argument("--seconds", type=int, default=seconds, help="of tuning")
    parser.add_argument("--shape", action="append", default=[], metavar="NAME=1,3,224,224")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--program", metavar="FILE", help="instead of ./attune")
    parser.add_argument("--library", metavar="FILE", help="instead of the tree's runtime library")
    parser.add_argument("--keep", metavar="DIR", help="keep artifacts there, and use those there")


def said_by(name, text):
    print(f"{name}: {text}", file=sys.stderr, flush=True)


def enter(options, name):
    """Goes on where the peers are: in the environment of the cache, or in an interpreter of the
    user's. Returns those that there are."""
    peers = [peer for peer in options.peers.split(",") if peer]
    unknown = [peer for peer in peers if peer not in PEERS]
    if unknown:
        sys.exit(f"{name}: there is no peer '{unknown[0]}'; peers are {', '.join(PEERS)}")
    needs = {peer: [peer, "onnx"] if peer == "torch" else [peer] for peer in peers}
    if options.python:
        peer_environment.use(options.python, ["numpy"])
        for peer in peers:
            reasons = filter(None, map(peer_environment.unusable, needs[peer]))
            if reason := next(reasons, None):
                said_by(name, f"{peer} is left out: {reason}")
                needs.pop(peer)
        peers = list(needs)
    else:
        peer_environment.enter(["numpy", "onnxruntime", *sum(needs.values(), [])])
    known = ", ".join(f"{peer} {version_of(peer)}" for peer in peers) or "no other runtime"
    print(f"{known}; Python {sys.version.split()[0]} in {sys.executable}", flush=True)
    return peers


def version_of(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:  # it came under another name
        return getattr(importlib.import_module(package), "__version__", "of an unknown version")


def use_attune(options):
    """Builds what is compared, if it must be."""
    if options.program:
        PROGRAM[:] = [options.program]
    attune("--version")
    os.environ["ATTUNE_RUNTIME_LIBRARY"] = options.library or tree_build.built(
        "attune_runtime_shared", "lib/libattune_runtime.so")


def attune(*arguments):
    """Runs the program; ends with its words when it fails."""
    done = subprocess.run([*PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"attune {' '.join(map(str, arguments))} failed: {done.stderr.strip()}")
    return done.stdout


def trained_models():
    """The models of tests/conformance/models.txt by name."""
    import model_inputs

    return {m.name: m for m in model_inputs.listed_models() if m.tolerance != "classic"}


def wanted_models(options):
    """Their names: those asked for, else the zoo; `trained` is all trained ones."""
    return [name for model in options.models or MODELS
            for name in (trained_models() if model == "trained" else [model])]


def model_file(model):
    """The ONNX file of a model: itself, fetched, or exported from the zoo into the cache."""
    if model.endswith(".onnx"):
        return model
    if model in trained_models():
        listed = trained_models()[model]
        subprocess.run([ROOT / "scripts" / "fetch_models", model], stdout=subprocess.DEVNULL,
                       check=False)
        return str(cache_directory("models", listed.requirement, *listed.path.split("/")))
    file = cache_directory("zoo", model + ".onnx")
    file.parent.mkdir(parents=True, exist_ok=True)
    attune("zoo", "export", model, "-o", str(file))
    return str(file)


def wanted_inputs(options, model, file):
    """Name, type and shape of the inputs: as they are listed, else as asked for."""
    import model_inputs

    if model in trained_models():
        return trained_models()[model].inputs
    try:
        import onnxruntime
    except ImportError:
        words = [word for text in options.shape for word in ("--shape", text)]
        told = json.loads(attune("run", file, *words, "--history", "none", "--json"))["inputs"]
        return [model_inputs.input_of(i["name"], TYPES[i["type"]], i["shape"], VOCABULARY) for i in told]
    shapes = {}
    for text in options.shape:
        name, dims = text.rsplit("=", 1)
        shapes[name] = tuple(int(d) for d in dims.split(",") if d)
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    return model_inputs.asked_by(session, shapes, VOCABULARY)


def with_constants(command, inputs):
    """What the program says; integers that decide shapes are fixed as it asks for them."""
    import numpy

    fixed = {}
    with tempfile.TemporaryDirectory() as folder:
        while True:
            words = [word for name, file in fixed.items() for word in ("--constant", f"{name}={file}")]
            try:
                return attune(*command, *words)
            except RuntimeError as error:
                needed = re.search("depends on input '([^']+)' of the model", str(error))
                if not needed or needed[1] in fixed or inputs[needed[1]].dtype.kind not in "iub":
                    raise
                fixed[needed[1]] = os.path.join(folder, f"{len(fixed)}.npy")
                numpy.save(fixed[needed[1]], inputs[needed[1]])


def name_of(model):
    """What a table calls a model: a file by its name alone."""
    return pathlib.Path(model).stem if model.endswith(".onnx") else model


def name_of_artifact(model):
    """Files of one name in different folders have artifacts of their own."""
    path = pathlib.Path(model)
    if not model.endswith(".onnx"):
        return model
    return f"{path.stem}-{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]}"


def artifact(options, runners, threads, kind):
    """Compiles the model for Attune, tuned or not, from nothing: its path, and how tuning went."""
    file, inputs = runners.file, runners.inputs
    folder = pathlib.Path(options.keep)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name_of_artifact(runners.model)}-{threads}-{kind}.attune"
    report = path.with_suffix(".json")
    if not path.exists():
        shapes = [word for name, array in inputs.items()
                  for word in ("--shape", f"{name}={','.join(map(str, array.shape))}")]
        command = ["compile", file, "--records", str(path.with_suffix(".db"))]
        if kind == "untuned":
            command.append("--no-look")
        if kind == "tuned":
            command = ["tune", file, "--seconds", str(options.seconds), "--json",
                       "--records", str(path.with_suffix(".db"))]
        begin = time.monotonic()
        said = with_constants(
            [*command, "--history", "none", "--threads", str(threads), "-o", str(path), *shapes], inputs)
        if kind == "tuned":
            seconds, told = time.monotonic() - begin, json.loads(said)
            told |= {"wall_seconds": seconds, "trials": sum(task["trials"] for task in told["tasks"])}
            report.write_text(json.dumps({key: told[key] for key in TUNING}), encoding="utf-8")
    tuning = json.loads(report.read_text(encoding="utf-8")) if report.exists() else None
    return str(path), tuning


def peaks():
    """GFLOP/s of one core and of all, now."""
    found = json.loads(attune("doctor", "--seconds", "0.02", "--json"))
    return found["peak_gflops_1"], found["peak_gflops_all"]


def cores_for(threads):
    """The same cores for everyone; the last ones, as the first serves interrupts."""
    cores = sorted(os.sched_getaffinity(0))
    if threads > len(cores):
        sys.exit(f"{threads} threads need {threads} cores, this machine gives {len(cores)}")
    return cores[-threads:]


class Runners:
    """Workers on one model with the same inputs, closed in the end."""

    def __init__(self, options, model):
        self.options = options
        self.model = model
        self.file = model_file(model)
        self.inputs = {i.name: i.array() for i in wanted_inputs(options, model, self.file)}
        self.workers = []

    def __enter__(self):
        import interleaved

        self.folder = tempfile.TemporaryDirectory()
        self.given = os.path.join(self.folder.name, "inputs.npz")
        interleaved.save_arrays(self.given, self.inputs)
        return self

    def __exit__(self, *_):
        for worker in self.workers:
            worker.close()
        self.folder.cleanup()

    def add(self, engine, path, threads, cores, label=None):
        import interleaved

        self.workers.append(interleaved.Worker(engine, path, self.given, threads, cores, label))
        return self.workers[-1]

    def measured(self, workers, threads):
        """As interleaved.measure says it."""
        import interleaved

        o = self.options
        apart = interleaved.CoresApart(peaks, threads)
        return interleaved.measure(workers, o.rounds, o.bursts, o.burst_seconds, apart)


def compare(options, model, threads, kind, engines):
    """One row: the model on so many threads."""
    import interleaved
    import report

    tuning, peers = None, [engine for engine in engines if engine != "attune"]
    with Runners(options, model) as runners:
        for engine in engines:
            path = runners.file
            if engine == "attune":
                path, tuning = artifact(options, runners, threads, kind)
            try:
                runners.add(engine, path, threads, cores_for(threads))
            except interleaved.Failed as error:
                if engine == "attune":
                    raise
                peers.remove(engine)
                said_by(model, f"{engine} is left out: {error}")
        outputs = {worker.engine: worker.results() for worker in runners.workers}
        errors = {engine: interleaved.disagreement(found, outputs[peers[0]])
                  for engine, found in outputs.items() if peers and engine != peers[0]}
        best, disturbed = runners.measured(runners.workers, threads)
        loads = {worker.engine: worker.load_seconds for worker in runners.workers}
    if disturbed:
        said_by(model, f"other processes or the host disturbed {disturbed} turns")
    row = report.result(name_of(model), threads, kind, best, errors, loads, disturbed)
    return {**row, "tuning": tuning} if tuning else row


def facts(peers):
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                if line.startswith("model name")), "unknown processor")
    return {"cpu": cpu, "cores": os.cpu_count(),
            "versions": {peer: version_of(peer) for peer in peers}}
