"""The Python environment with other runtimes to compare with: in the cache, never in the tree.

Only benches and conformance tests need it; Attune itself does not. Versions are pinned, so that
figures of different days compare.
"""
import importlib.util
import os
import subprocess
import sys
import venv

from packages_fetched import cache_directory

PINNED = {
    "numpy": "numpy==2.4.6",
    "onnxruntime": "onnxruntime==1.31.1",
    "openvino": "openvino==2026.4.1",
    "onnx": "onnx==1.22.0",
    "torch": "torch==2.15.0",
}
FOLDER = cache_directory("peers", "venv")
MARK = "ATTUNE_PEER_ENVIRONMENT"


def python():
    return FOLDER / "bin" / "python"


def missing(packages):
    """Those of the packages that the running interpreter cannot import."""
    return [name for name in packages if importlib.util.find_spec(name) is None]


def enter(packages):
    """Goes on inside the environment with the packages there; returns once that is so."""
    inside = os.environ.get(MARK) == str(FOLDER)
    if inside and not missing(packages):
        return
    if not python().exists():
        print(f"making a Python environment in {FOLDER}", file=sys.stderr)
        venv.create(FOLDER, with_pip=True)
    if inside:
        wanted = [PINNED[name] for name in missing(packages)]
        print(f"installing {', '.join(wanted)} from PyPI", file=sys.stderr)
        done = subprocess.run([python(), "-m", "pip", "install", "--quiet", *wanted], check=False)
        if done.returncode != 0:
            sys.exit(f"pip could not install {', '.join(wanted)}; check the network and try again")
    environment = dict(os.environ)
    environment[MARK] = str(FOLDER)
    sys.stdout.flush()
    os.execve(python(), [str(python()), "-B", *sys.argv], environment)
