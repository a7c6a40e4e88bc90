"""What the stages of a setup say: its length against the lower bound, idle times and stretches."""

ROUND = {"select", "build", "profile", "update"}


def makespan(run):
    return max(stage[5] for stage in run["stages"]) - min(stage[3] for stage in run["stages"])


def seconds(stage):
    return stage[5] - stage[4]


def busy(run, pool):
    """The time in which the pool worked, not counted twice."""
    total, until = 0.0, 0.0
    for _, _, where, _, start, end in sorted(run["stages"], key=lambda stage: stage[4]):
        if where == pool:
            total += max(end - max(start, until), 0)
            until = max(until, end)
    return total


def pools(run):
    return sorted({stage[2] for stage in run["stages"]}, key=lambda pool: pool != "host")


def serial_length(run, job, prefetch):
    """Of a job alone: all its stages in turn, or with its rounds overlapped as well as can be."""
    own = [stage for stage in run["stages"] if stage[0] == job]
    if prefetch == 1:
        return sum(seconds(stage) for stage in own)
    rounds = {pool: sum(seconds(stage) for stage in own if stage[2] == pool and stage[1] in ROUND)
              for pool in pools(run)}
    return sum(seconds(stage) for stage in own if stage[1] not in ROUND) + max(rounds.values())


def lower_bound(alone, prefetch):
    """From the undisturbed times of setup A: the work of each pool, and the longest job."""
    work = [sum(seconds(stage) for stage in alone["stages"] if stage[2] == pool)
            for pool in pools(alone)]
    jobs = {stage[0] for stage in alone["stages"]}
    return max(*work, *(serial_length(alone, job, prefetch) for job in jobs))


def stretch(run, alone, pool):
    """How much longer the stages on the pool took, all together, than in setup A."""
    now, before = (sum(seconds(stage) for stage in of["stages"] if stage[2] == pool)
                   for of in (run, alone))
    return now / before


def markdown(runs):
    alone = runs["A"]
    lines = ["| setup | policy | prefetch | makespan, s | ÷ LB | ÷ A | host idle | device idle "
             "| stretch host | stretch device | trials | latency, ms |",
             "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for name, run in runs.items():
        length, bound = makespan(run), lower_bound(alone, run["prefetch"])
        idle = [f"{100 * (1 - busy(run, pool) / length):.0f} %" for pool in pools(run)]
        stretches = [f"{stretch(run, alone, pool):.2f}" for pool in pools(run)]
        latency = " / ".join(f"{ms:.3g}" for ms in run.get("latency_ms", []))
        lines.append(f"| {name} | {run['policy']} | {run['prefetch']} | {length:.1f} "
                     f"| {length / bound:.2f} | {length / makespan(alone):.2f} | {idle[0]} "
                     f"| {idle[1]} | {stretches[0]} | {stretches[1]} | {sum(run['tried'])} "
                     f"| {latency} |")
    jobs = {stage[0] for stage in alone["stages"]}
    apart = max(serial_length(alone, job, 1) for job in jobs)
    lines.append(f"| apart | each job on hardware of its own (from A) | 1 | {apart:.1f} "
                 f"| {apart / lower_bound(alone, 1):.2f} | {apart / makespan(alone):.2f} "
                 "| | | | | | |")
    return "\n".join(lines)


def put(path, key, table):
    """Between the marks of the key in a document."""
    begin, end = f"<!-- {key} -->", f"<!-- end of {key} -->"
    text = path.read_text(encoding="utf-8")
    if begin not in text or end not in text:
        raise SystemExit(f"setups: {path} has no place marked '{begin}'")
    before, rest = text.split(begin, 1)
    path.write_text(f"{before}{begin}\n{table}\n{end}{rest.split(end, 1)[1]}", encoding="utf-8")
