"""Two builds of Attune: what each makes of a model, and how long that takes in turns."""
import dataclasses
import json
import pathlib
import statistics
import subprocess
import time

KINDS = ("untuned", "tuned")
BENCH_SECONDS = 0.3  # of one turn


@dataclasses.dataclass(frozen=True)
class Row:
    model: str
    threads: int
    kind: str

    def title(self):
        return f"{self.model}, {self.kind}, {self.threads} thread{'s' * (self.threads > 1)}"


class Build:
    def __init__(self, program, folder):
        self.program = str(pathlib.Path(program).resolve())
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        # Earlier builds never looked, and have no word for leaving it out.
        self.no_look = ["--no-look"] if "--no-look" in self.said(["compile", "--help"]) else []

    def said(self, words, cores=None):
        keep_to = ["taskset", "-c", ",".join(map(str, cores))] if cores else []
        return subprocess.run([*keep_to, self.program, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, check=True).stdout

    def artifact(self, row):
        return self.folder / f"{pathlib.Path(row.model).stem}-{row.threads}-{row.kind}.attune"

    def make(self, row, cores, seconds):
        path = self.artifact(row)
        if path.exists():
            return
        words = ["compile", row.model, *self.no_look]
        if row.kind == "tuned":
            words = ["tune", row.model, "--seconds", str(seconds), "--json"]
        self.said([*words, "--history", "none", "--records", str(path.with_suffix(".db")),
                   "--threads", str(row.threads), "-o", str(path)], cores[:row.threads])

    def latency_ms(self, row, cores):
        told = json.loads(self.said(["bench", str(self.artifact(row)), "--json",
                                     "--seconds", str(BENCH_SECONDS)], cores[:row.threads]))
        return told["latency_ms"]


def timed(row, builds, cores, rounds):
    """The row's times: each build once a round, and whoever was second is first in the next one."""
    times = [[], []]
    for turn in range(rounds):
        for which in (0, 1) if turn % 2 == 0 else (1, 0):
            times[which].append(builds[which].latency_ms(row, cores))
    names = ("before", "after")
    return {**dataclasses.asdict(row),
            "median_ms": {name: statistics.median(t["median"] for t in found)
                          for name, found in zip(names, times)},
            "best_ms": {name: min(t["min"] for t in found) for name, found in zip(names, times)},
            "rounds": rounds, "day": time.strftime("%Y-%m-%d")}
