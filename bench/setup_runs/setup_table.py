"""What the stages of a setup say: its length against the lower bound, idle times and stretches.

A run has `stages`, each [job, kind, pool, ready, started, ended, units of the pool], and `pools`, the
units that there are of each. Runs that were written down without units had one of everything.
"""
import itertools

ROUND = {"select", "build", "profile", "update"}


def makespan(run):
    return max(stage[5] for stage in run["stages"]) - min(stage[3] for stage in run["stages"])


def seconds(stage):
    return stage[5] - stage[4]


def units(stage):
    return stage[6] if len(stage) > 6 else 1


def capacity(run, pool):
    return run.get("pools", {}).get(pool, 1)


def work(run, pool):
    """Seconds of its units that stages on the pool took."""
    return sum(units(stage) * seconds(stage) for stage in run["stages"] if stage[2] == pool)


def busy(run, pool):
    """Seconds of its units in which the pool worked; what shares a unit is not counted twice."""
    changes = []
    for stage in run["stages"]:
        if stage[2] == pool:
            changes += [(stage[4], units(stage)), (stage[5], -units(stage))]
    total, in_use, since = 0.0, 0, 0.0
    for at, change in sorted(changes):
        total += min(in_use, capacity(run, pool)) * (at - since)
        in_use, since = in_use + change, at
    return total


def idle(run, pool):
    """The part of the pool's time in which it did nothing."""
    return 1 - busy(run, pool) / (capacity(run, pool) * makespan(run))


def pools(run):
    return sorted({stage[2] for stage in run["stages"]}, key=lambda pool: pool != "host")


def job_names(run):
    return sorted({stage[0] for stage in run["stages"]})


def serial_length(run, job, prefetch):
    """Of a job alone: all its stages in turn, or with its rounds overlapped as well as can be."""
    own = [stage for stage in run["stages"] if stage[0] == job]
    if prefetch == 1:
        return sum(seconds(stage) for stage in own)
    rounds = {pool: sum(units(stage) * seconds(stage) for stage in own
                        if stage[2] == pool and stage[1] in ROUND) / capacity(run, pool)
              for pool in pools(run)}
    return sum(seconds(stage) for stage in own if stage[1] not in ROUND) + max(rounds.values())


def lower_bound(alone, prefetch):
    """From the undisturbed times of setup A: the work of each pool, and the longest job."""
    return max(*(work(alone, pool) / capacity(alone, pool) for pool in pools(alone)),
               *(serial_length(alone, job, prefetch) for job in job_names(alone)))


def stretch(run, alone, pool):
    """How much longer the stages on the pool took, all together, than in setup A."""
    return work(run, pool) / work(alone, pool)


def kinds(run):
    """In the order in which they first began."""
    return list(dict.fromkeys(stage[1] for stage in sorted(run["stages"], key=lambda s: s[4])))


def seconds_of(run, kind):
    return [seconds(stage) for stage in run["stages"] if stage[1] == kind]


def on_separate_hardware(alone, sets):
    """Jobs shared out over so many sets of hardware, one after the other on each, at best."""
    lengths = [serial_length(alone, job, 1) for job in job_names(alone)]
    return min(max(sum(length for length, place in zip(lengths, places) if place == one)
                   for one in range(sets))
               for places in itertools.product(range(sets), repeat=len(lengths)))


def ideal_rows(alone):
    """What more hardware would do, from the times of setup A."""
    jobs = len(job_names(alone))
    rows = [("apart", "each job on hardware of its own (from A)", jobs)]
    if jobs > 2:
        rows.append(("two sets", "one after the other on two sets of hardware (from A)", 2))
    for name, policy, sets in rows:
        length = on_separate_hardware(alone, sets)
        yield (f"| {name} | {policy} | 1 | {length:.1f} | {length / lower_bound(alone, 1):.2f} "
               f"| {length / makespan(alone):.2f} | | | | | | |")


def markdown(runs):
    alone = runs["A"]
    lines = ["| setup | policy | prefetch | makespan, s | ÷ LB | ÷ A | host idle | device idle "
             "| stretch host | stretch device | trials | latency, ms |",
             "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for name, run in runs.items():
        length, bound = makespan(run), lower_bound(alone, run["prefetch"])
        idles = [f"{100 * idle(run, pool):.0f} %" for pool in pools(run)]
        stretches = [f"{stretch(run, alone, pool):.2f}" for pool in pools(run)]
        latency = " / ".join(f"{ms:.3g}" for ms in run.get("latency_ms", []))
        lines.append(f"| {name} | {run['policy']} | {run['prefetch']} | {length:.1f} "
                     f"| {length / bound:.2f} | {length / makespan(alone):.2f} | {idles[0]} "
                     f"| {idles[1]} | {stretches[0]} | {stretches[1]} | {sum(run['tried'])} "
                     f"| {latency} |")
    return "\n".join([*lines, *ideal_rows(alone)])


def kinds_markdown(runs):
    """Stages by kind: how long they take alone, in setup A, and how many times as long elsewhere.

    Compared are all of a kind together: where rounds overlap, what A does in one stage may be several.
    """
    alone = runs["A"]
    times = {kind: seconds_of(alone, kind) for kind in kinds(alone)}
    times = {kind: own for kind, own in times.items() if sum(own) > 0}
    rows = {"setup": times, "---": ["---"] * len(times),
            "A, mean seconds": [f"{sum(own) / len(own):.3g}" for own in times.values()],
            "A, seconds in all": [f"{sum(own):.3g}" for own in times.values()]}
    for name, run in runs.items():
        if name != "A":
            rows[name] = [f"{sum(seconds_of(run, kind)) / sum(own):.2f}"
                          for kind, own in times.items()]
    return "\n".join(f"| {' | '.join([name, *cells])} |" for name, cells in rows.items())
