"""The parts of docs/performance.md on GPUs, from the raw rows of bench/cuda, and from those that were
noted by hand (`noted`: rows of programs and runs whose raw rows were not kept)."""
import statistics

import rows

PRECISIONS = ("f32", "tf32", "f16")


def three_digits(value):
    if value >= 999.5:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def found(document, table, precision, kind):
    """{name: row}."""
    return {row["name"]: row for row in document["results"]
            if (row["table"], row["precision"], row["kind"]) == (table, precision, kind)}


def ratio(row, time_of=rows.overlapped_us):
    return row["peer_us"] / time_of(row)


def mean(some, time_of=rows.overlapped_us):
    return statistics.geometric_mean(ratio(row, time_of) for row in some)


def table_of(heads, lines):
    return "\n".join(["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads),
                      *("| " + " | ".join(cells) + " |" for cells in lines)])


def machine(document, _):
    """What was measured with: of the whole file."""
    cudnn = document["cudnn"]
    torch = document["torch"].split("+")[0]
    return (f"One {document['card']}, driver {document['now']['driver_version']}, PyTorch {torch}, CUDA "
            f"{document['cuda']}, cuDNN {cudnn // 10000}.{cudnn // 100 % 100}.{cudnn % 100}.\n")


def convolutions(document, _):
    of = {p: found(document, "convolutions", p, "tuned") for p in PRECISIONS}
    heads = ["layer", *(head for p in PRECISIONS for head in (f"{p} plain", "overlapped", "cuDNN", "×"))]
    lines = []
    for name in dict.fromkeys(name for rows_of in of.values() for name in rows_of):
        cells = [name]
        for p in PRECISIONS:
            row = of[p].get(name)
            cells += ["–"] * 4 if row is None else [
                three_digits(rows.plain_us(row)), three_digits(rows.overlapped_us(row)),
                three_digits(row["peer_us"]), f"{ratio(row):.2f}"]
        lines.append(cells)
    means = [f"{p} {mean(of[p].values(), rows.plain_us):.2f} plain, {mean(of[p].values()):.2f} overlapped "
             f"({len(of[p])} layers)" for p in PRECISIONS]
    return f"{table_of(heads, lines)}\n\nGeometric means: {'; '.join(means)}.\n"


def depthwise(document, _):
    some = found(document, "depthwise", "f32", "tuned")
    ratios = ", ".join(f"{ratio(row):.2f}" for row in some.values())
    names = list(some)
    return (f"Depthwise layers {names[0]} to {names[-1]}, f32, 24 trials: {ratios} × cuDNN (geometric mean "
            f"{mean(some.values()):.2f}; plain {mean(some.values(), rows.plain_us):.2f}).\n")


def models(document, _):
    some = found(document, "models", "f32", "untuned")
    lines = [[name, three_digits(row["peer_us"]), three_digits(rows.overlapped_us(row)),
              f"{ratio(row):.2f}"] for name, row in some.items()]
    return (f"{table_of(['model', 'PyTorch', 'Attune', '×'], lines)}\n\n"
            f"Geometric mean {mean(some.values()):.2f}.\n")


def tuned_models(document, _):
    heads = ["model", "precision", "PyTorch", "untuned", "×", "PyTorch", "tuned", "×", "trials",
             "a second", "seconds"]
    lines = []
    for p in PRECISIONS:
        tuned, untuned = (found(document, "models", p, kind) for kind in ("tuned", "untuned"))
        for name in (name for name in untuned if name in tuned or p != "f32"):
            cells = [name, p]
            for row in (untuned[name], tuned.get(name)):
                cells += ["–"] * 3 if row is None else [
                    three_digits(row["peer_us"]), three_digits(rows.overlapped_us(row)),
                    f"{ratio(row):.2f}"]
            how = tuned[name]["tuning"] if name in tuned else None
            cells += ["–"] * 3 if how is None else [
                f"{how['trials']:,}", f"{how['trials_per_second']:.1f}", f"{how['seconds']:.0f}"]
            lines.append(cells)
    return table_of(heads, lines) + "\n"


def tuning_seconds(document, _):
    """Where the time of one run went."""
    tuning = found(document, "models", "f32", "tuned")["resnet18"]["tuning"]
    wall = tuning["wall_seconds"]
    return (f"Of the {tuning['seconds']:.0f} s of resnet18 in f32, {wall['rounds']:.0f} were rounds, "
            f"{wall['compile']:.1f} compiling, {wall['inside']:.1f} timing kernels inside the model, "
            f"{wall['race'] + wall['ways']:.1f} races and launches that overlap,\n"
            f"{wall['history']:.1f} history and default schedules; the card was busy for "
            f"{100 * tuning['device_busy']:.0f} % of the whole time.\n")


def products(document, _):
    heads, columns = ["size"], []
    for p in ("f32", "tf32"):
        for kind, head in (("untuned", f"{p} default"), ("tuned", "tuned")):
            heads.append(head)
            columns.append(found(document, "gemm", p, kind))
    lines = [[name, *(f"{ratio(column[name]):.2f}" for column in columns)] for name in columns[0]]
    return table_of(heads, lines) + "\n"


def warpgroups(_, noted):
    some = found(noted, "gemm", "f16", "instructions of warpgroups").values()
    clusters = found(noted, "gemm", "f16", "clusters that share weights")["4096³"]

    def listed(texts):
        *first, last = texts
        return f"{', '.join(first)} and {last}"

    ours = listed([f"{rows.plain_us(row):g}" for row in some])
    theirs = listed([f"{row['peer_us']:g}" for row in some])
    ratios = listed([f"{ratio(row, rows.plain_us):.2f}" for row in some])
    return (f"In f16, kernels by instructions of warpgroups alone, plain, random operands: {ours} µs where "
            f"cuBLAS had\n{theirs} ({ratios}). Blocks that share copies of weights as clusters are slower: "
            f"{rows.plain_us(clusters):.0f} µs at 4096.\n")


def skinny(document, _):
    texts = []
    for p in ("f32", "f16"):
        some = found(document, "skinny", p, "untuned").values()
        texts.append(f"{p} {mean(some):.2f}, least {min(map(ratio, some)):.2f}")
    tuned = found(document, "skinny", "f16", "tuned")
    best = {**found(document, "skinny", "f16", "untuned"), **tuned}.values()
    each = ", ".join(f"{ratio(row):.2f}" for row in tuned.values())
    return (f"Skinny ones, M 1, 4 and 16 by N and K of 1,024 and 4,096, by default, geometric means:\n"
            f"{'; '.join(texts)}. "
            f"With the {len(tuned)} of 16 rows in f16 tuned (48 trials: {each}), f16 has {mean(best):.2f}, "
            f"least {min(map(ratio, best)):.2f}.\n")


def trials_per_second(document, _):
    def span(of_models):
        rates = [row["tuning"]["trials_per_second"] for row in document["results"]
                 if row["kind"] == "tuned" and (row["table"] == "models") == of_models]
        return f"{min(rates):.0f} to {max(rates):.0f}"

    return f"{span(True)} in whole models, {span(False)} of operators"


def other_runs(_, noted):
    texts = [f"{row['name']} in {row['precision']} had {row['peer_us']:g}"
             for row in noted["results"] if row["kind"] == "other run"]
    return f"cuDNN itself varies between runs: {', '.join(texts)} in others.\n"


BLOCKS = {f"gpu_{part.__name__}": part for part in
          (machine, convolutions, depthwise, models, other_runs, tuned_models, tuning_seconds, products,
           warpgroups, skinny)}
