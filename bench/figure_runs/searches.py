"""Figures 4 to 9 and 12: searches over operators, made by bench_search and drawn as curves."""
import csv
import subprocess
import time

import svg
import workloads

LATER = ("C7", "C8", "C9", "C10", "C11", "C12")
PRODUCT = "matmul"  # of another kind than what is learnt from
PRODUCT_SIZE = 512
LESSONS = ["C1", "C2", "C3", "C4", "C5", "C6"]  # what the figures of transfer learn from
LESSON_TRIALS = 48
ONE_THREAD, TWO_THREADS = "cpu -threads=1", "cpu -threads=2"
# Nothing is ruled out beforehand and no default schedule is tried first: the searches alone.
ALL = "reject=0,defaults=0,batch=16"
PAPER = "analytic=none," + ALL  # models as in the paper, which know no analytic prediction
VARIANTS = {
    "random": "explorer=random," + ALL,
    "genetic": "explorer=genetic,population=32," + ALL,
    "xgb-rank": "model=xgb-rank," + PAPER,
    "xgb-regression": "model=xgb-regression," + PAPER,
    "treegru-rank": "model=treegru-rank," + PAPER,
    "treegru-regression": "model=treegru-regression," + PAPER,
    "alpha-0": "model=xgb-rank,diversity=0," + PAPER,
    "pool-2": "model=xgb-rank,pool=2," + PAPER,
    "trees-mean": "model=xgb-regression,ensemble=5,acquisition=mean," + PAPER,
    "trees-optimism": "model=xgb-regression,ensemble=5,acquisition=optimism," + PAPER,
    "trees-improvement": "model=xgb-regression,ensemble=5,acquisition=improvement," + PAPER,
    "gp": "model=gp," + ALL,
    "gp-mean": "model=gp,acquisition=mean," + ALL,
    "gp-improvement": "model=gp,acquisition=improvement," + ALL,
    "gp-history": "model=gp,history=relation," + ALL,
    "gp-context": "model=gp,history=context," + ALL,
    "gp-knob": "model=gp,history=knob," + ALL,
}
# figure: (title, layers, {variant: what the legend says}, variants shown with twice the trials)
FIGURES = {
    4: ("Learned models, genetic and random search", tuple(workloads.CONVOLUTIONS),
        {"gp": "gp (with analytic model)", "xgb-rank": "xgb-rank", "treegru-rank": "treegru-rank",
         "genetic": "genetic", "random": "random"}, ("genetic", "random")),
    5: ("Rank and regression objectives", tuple(workloads.CONVOLUTIONS),
        {"xgb-rank": "xgb-rank", "xgb-regression": "xgb-regression", "treegru-rank": "treegru-rank",
         "treegru-regression": "treegru-regression"}, ()),
    6: ("Diversity of batches", tuple(workloads.CONVOLUTIONS),
        {"xgb-rank": "α = 0.03, λ = 8", "alpha-0": "α = 0", "pool-2": "α = 0.03, λ = 2"}, ()),
    7: ("Uncertainty: what is measured next", tuple(workloads.CONVOLUTIONS),
        {"trees-mean": "trees: mean", "trees-optimism": "trees: lower bound",
         "trees-improvement": "trees: expected improvement", "gp-mean": "gp: mean",
         "gp": "gp: lower bound", "gp-improvement": "gp: expected improvement"}, ()),
    8: ("Transfer from C1–C6", LATER,
        {"gp-history": "gp with history", "gp": "gp", "xgb-rank": "xgb-rank", "random": "random"},
        ()),
    9: ("Invariance: features of the history C1–C6", (*LATER, PRODUCT),
        {"gp-history": "relation", "gp-context": "context", "gp-knob": "knob", "gp": "no history"},
        ()),
    12: ("Transfer from one thread to two", ("C2", "C4", "C6", "C7", "C9", "C12"),
         {"gp-history": "gp with history of C1–C6 on one thread", "gp": "gp", "random": "random"},
         ()),
}
WITH_LESSONS = (8, 9, 12)
ON_TWO_THREADS = (12,)


def spec(layer):
    return workloads.product(PRODUCT_SIZE) if layer == PRODUCT else workloads.convolution(layer)


def flops(layer):
    return 2 * PRODUCT_SIZE ** 3 if layer == PRODUCT else workloads.convolution_flops(layer)


class Runs:
    """The trials made so far, in a folder; adds to them while time is left."""

    def __init__(self, program, folder, trials, seeds, seconds):
        self.program, self.trials, self.seeds = program, trials, seeds
        self.folder, self.lessons = folder, folder / "lessons.csv"
        self.end = time.monotonic() + seconds

    def file(self, number):
        return self.folder / ("trials-2.csv" if number in ON_TWO_THREADS else "trials.csv")

    def search(self, file, layers, variants, trials, seeds, target=ONE_THREAD):
        left = self.end - time.monotonic()
        if left <= 0 or not variants:
            return
        command = [self.program, f"-csv={file}", f"-trials={trials}", f"-seeds={seeds}",
                   f"-seconds={left:.1f}", f"-target={target}",
                   *(f"-variant={v}:{VARIANTS[v]}" for v in variants)]
        if self.lessons.exists() and any("history" in VARIANTS[v] for v in variants):
            command += [f"-lessons={self.lessons}", f"-lessons-target={ONE_THREAD}"]
        subprocess.run([*command, *map(spec, layers)], stdout=subprocess.DEVNULL, check=True)

    def add(self, number):
        """One seed after the other, so that all curves are there when time ends early."""
        _, layers, variants, doubled = FIGURES[number]
        target = TWO_THREADS if number in ON_TWO_THREADS else ONE_THREAD
        if number in WITH_LESSONS:
            self.search(self.lessons, LESSONS, ["random"], LESSON_TRIALS, 1)
        for seeds in range(1, self.seeds + 1):
            once = [v for v in variants if v not in doubled]
            self.search(self.file(number), layers, once, self.trials, seeds, target)
            self.search(self.file(number), layers, doubled, 2 * self.trials, seeds, target)

    def curves(self, number):
        """{(spec, variant): [the best times of a seed's trials]}, of seeds with all trials."""
        found = {}
        with open(self.file(number), encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                seeds = found.setdefault((row["spec"], row["variant"]), {})
                seeds.setdefault(row["seed"], []).append(float(row["best_us"] or 0))
        return {key: [c for _, c in sorted(seeds.items()) if len(c) >= self.trials][:self.seeds]
                for key, seeds in found.items()}


def speeds(layer, curves, trials, factor):
    """(trial, GFLOP/s of the best so far, mean over the seeds), with `factor` trials for one."""
    curves = [curve for curve in curves if len(curve) >= factor * trials]
    shown = sorted({1, 2, *range(4, trials + 1, 4), trials})
    rates = []
    for trial in shown if curves else []:
        times = [curve[factor * trial - 1] for curve in curves]
        rates.append((trial, sum(flops(layer) / us / 1e3 for us in times if us) / len(times)))
    return rates, len(curves)


def figure(runs, number):
    """Title, axis, panels and rows of the table; panels without curves are left out."""
    title, layers, variants, doubled = FIGURES[number]
    curves, panels, rows = runs.curves(number), [], []
    series = [(v, 1, legend) for v, legend in variants.items()]
    series += [(v, 2, variants[v] + svg.TWICE) for v in doubled]
    for layer in layers:
        lines = {}
        for variant, factor, legend in series:
            line, seeds = speeds(layer, curves.get((spec(layer), variant), []), runs.trials, factor)
            if line:
                lines[legend] = line
            rows += [{"operator": layer, "variant": legend, "seeds": seeds, "trial": trial,
                      "gflops": f"{rate:.1f}"} for trial, rate in line]
        if lines:
            panels.append((layer, lines))
    axis = f"GFLOP/s of the best so far over trials; mean over {runs.seeds} seeds"
    return f"Figure {number}. {title}", axis, panels, rows, svg.line_panel
