"""How few trials a search needs: what bench/few_trials computes from the trials of bench_search."""
import csv
import re

TURN = re.compile(r" (\S+)/(\d+)@(\d+) ([0-9.]+) us")


def timed_in_turns(output):
    """{spec: {(variant, seed, trials): µs}} of what bench_search -retime printed; 0 is a failure."""
    found, spec = {}, None
    for line in output.splitlines():
        if ": best " in line:
            spec = line.split(": best ")[0]
        elif line.startswith("  in turns:"):
            found[spec] = {(name, int(seed), int(trials)): float(us) or float("inf")
                           for name, seed, trials, us in TURN.findall(line)}
    return found


def curves(path):
    """{(spec, variant, seed): [the best time after each trial, in µs]}; infinite before the first."""
    found = {}
    with open(path, encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            best = float(row["best_us"] or 0) or float("inf")
            found.setdefault((row["spec"], row["variant"], int(row["seed"])), []).append(best)
    return found


def write_lessons(path, trials, variant, count):
    """The first `count` trials of the variant's first search of every operator, as a file."""
    with open(trials, encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream)
        kept = [row for row in rows if row["variant"] == variant and row["seed"] == "0"
                and int(row["trial"]) <= count]
    with open(path, "w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, rows.fieldnames, lineterminator="\n")
        table.writeheader()
        table.writerows(kept)


def reached(curve, goal_us):
    """The number of the first trial at the goal or below; None when there is none."""
    return next((i for i, best in enumerate(curve, 1) if best <= goal_us), None)


def mean(values):
    values = list(values)
    return sum(values) / len(values)
