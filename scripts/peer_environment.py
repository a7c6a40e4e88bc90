"""The Python environment with other runtimes to compare with: in the cache, never in the tree.

Only benches and conformance tests need it; Attune itself does not. Versions are pinned, so that
figures of different days compare.
"""
import importlib.util
import os
import shutil
import subprocess
import sys
import venv

from packages_fetched import cache_directory

PINNED = {
    "numpy": "numpy==2.4.6",
    "onnxruntime": "onnxruntime==1.31.1",
    "openvino": "openvino==2026.4.1",
    "onnx": "onnx==1.23.2",
    "torch": "torch==2.15.0",
    "tvm": "apache-tvm==0.27.0.post1",
    # The newest one crashes under that version of TVM.
    "tvm_ffi": "apache-tvm-ffi==0.1.14.post1",
    "xgboost": "xgboost==3.2.0",
    "cloudpickle": "cloudpickle==3.1.2",
    "psutil": "psutil==7.2.2",
    "scipy": "scipy==1.17.1",
    "tornado": "tornado==6.6.1",
}
FOLDER = cache_directory("peers", "venv")
MARK = "ATTUNE_PEER_ENVIRONMENT"


def python(folder=FOLDER):
    return folder / "bin" / "python"


def missing(packages):
    """Those of the packages that the running interpreter cannot import."""
    return [name for name in packages if importlib.util.find_spec(name) is None]


def unusable(package):
    """Why the running interpreter cannot import the package; None: it can."""
    done = subprocess.run([sys.executable, "-B", "-c", f"import {package}"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode == 0:
        return None
    words = done.stderr.strip().splitlines()
    return words[-1] if words else f"importing it ends with status {done.returncode}"


def use(program, packages):
    """Goes on inside an interpreter of the user's, which has the packages or is refused; nothing is
    installed."""
    found = shutil.which(program)
    if found is None:
        sys.exit(f"there is no program '{program}'")
    found = os.path.abspath(found)
    if os.environ.get(MARK) != found:
        sys.stdout.flush()
        os.execve(found, [found, "-B", *sys.argv], {**os.environ, MARK: found})
    for package in packages:
        if reason := unusable(package):
            sys.exit(f"{found} cannot import {package}: {reason}")


def enter(packages, folder=FOLDER):
    """Goes on inside the environment with the packages there; returns once that is so."""
    inside = os.environ.get(MARK) == str(folder)
    if inside and not missing(packages):
        return
    if not python(folder).exists():
        print(f"making a Python environment in {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
    if inside:
        wanted = [PINNED[name] for name in missing(packages)]
        print(f"installing {', '.join(wanted)} from PyPI", file=sys.stderr)
        done = subprocess.run([python(folder), "-m", "pip", "install", "--quiet", *wanted], check=False)
        if done.returncode != 0:
            sys.exit(f"pip could not install {', '.join(wanted)}; check the network and try again")
    environment = dict(os.environ)
    environment[MARK] = str(folder)
    sys.stdout.flush()
    os.execve(python(folder), [str(python(folder)), "-B", *sys.argv], environment)
