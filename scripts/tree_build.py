"""Programs and libraries of this tree, built when a benchmark asks for them; a package
(scripts/package) holds them already."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "release"


def run(command, what):
    """Ends with the last words of a command that fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {what} does not build: {done.stdout[-300:].strip()}")


def built(target, made):
    """Builds the target; the path of what it makes, given within the build folder."""
    if not (ROOT / "CMakeLists.txt").exists():
        return str(ROOT / made)
    if not (FOLDER / "build.ninja").exists():
        run([ROOT / "attune", "--version"], "attune")  # sets everything up
    run(["cmake", "--build", FOLDER, "--target", target], target)
    return str(FOLDER / made)
