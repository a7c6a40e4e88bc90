"""Tables and JSON of the comparison; runs in pieces add up in one JSON file."""
import statistics
import time

import raw_rows


def ratios(best, peers):
    """How many times as fast Attune is as each peer and as the faster one, with intervals."""
    import interleaved

    if "attune" not in best:
        return {}
    found = {peer: interleaved.ratio_interval(best[peer], best["attune"]) for peer in peers}
    if found:
        found["faster"] = min(found.values())
    return found


def result(model, threads, kind, best, errors, load_seconds, disturbed):
    """One row as JSON."""
    import numpy

    peers = [engine for engine in best if engine != "attune"]
    return {
        "model": model, "threads": threads, "kind": kind,
        "latency_ms": {e: float(numpy.median(t)) / 1e3 for e, t in best.items()},
        "best_ms": {e: float(t.min()) / 1e3 for e, t in best.items()},
        "load_seconds": load_seconds,
        "ratio": {name: dict(zip(("ratio", "low", "high"), r))
                  for name, r in ratios(best, peers).items()},
        "max_error": errors, "disturbed_turns": disturbed, "day": time.strftime("%Y-%m-%d"),
    }


def merged(file, facts, results):
    """What the file holds already, with the new rows in place of older ones of the same kind."""
    return raw_rows.merged(file, facts, results,
                           lambda row: (row["model"], row["threads"], row["kind"]))


def milliseconds(value):
    return "–" if value is None else (f"{value:.3f}" if value < 1 else f"{value:.2f}")


def ratio_text(row, name):
    found = row["ratio"].get(name)
    return "–" if found is None else f"{found['ratio']:.2f} ({found['low']:.2f}–{found['high']:.2f})"


def table(rows, engines):
    peers = [engine for engine in engines if engine != "attune"]
    columns = ["model", "threads", "Attune"]
    columns += [f"{engine} ms" for engine in engines]
    columns += [f"× {peer}" for peer in peers] + ["× the faster", "largest error"]
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for row in rows:
        cells = [row["model"], str(row["threads"]), row["kind"]]
        cells += [milliseconds(row["latency_ms"].get(engine)) for engine in engines]
        cells += [ratio_text(row, peer) for peer in peers] + [ratio_text(row, "faster")]
        errors = row["max_error"]  # Attune's own where it took part
        largest = errors.get("attune", max(errors.values(), default=None))
        cells += ["–" if largest is None else f"{largest:.1e}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def section(document):
    """The table of docs/performance.md, and what it was measured with."""
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    days = sorted({row["day"] for row in document["results"]})
    return (f"{versions}; {document['cpu']}; rows written down {days[0]} to {days[-1]}. Milliseconds are"
            " the median over bursts of the best run in a burst; ratios over 1 mean that Attune is"
            " faster, in brackets where 95 % of repetitions would lie.\n\n"
            + table(document["results"], ["attune", *document["versions"]]))


def against_the_faster(document, kind, threads):
    """{model: how many times as fast as the faster of the others}."""
    return {row["model"]: row["ratio"]["faster"]["ratio"] for row in document["results"]
            if (row["kind"], row["threads"]) == (kind, threads)}


def mean(document, kind, threads):
    return statistics.geometric_mean(against_the_faster(document, kind, threads).values())


def means(document):
    """A sentence on tuned models."""
    count = len(against_the_faster(document, "tuned", 1))
    return (f"The geometric means of the {count} are {mean(document, 'tuned', 2):.2f} on two threads and"
            f" {mean(document, 'tuned', 1):.2f} on one.")


def span(document):
    """The models of which tuning gains least and most, on two threads."""
    found = against_the_faster(document, "tuned", 2)
    least, most = min(found, key=found.get), max(found, key=found.get)
    return (f"{found[least]:.2f} times ({least}) to {found[most]:.2f} times ({most}),\n"
            f"{mean(document, 'tuned', 2):.2f} in the geometric mean")


def headline(document, named):
    """What the README says of two threads, with some models by their names."""
    tuned = against_the_faster(document, "tuned", 2)
    untuned = against_the_faster(document, "untuned", 2)
    models = ", ".join(f"{model} {tuned[model]:.1f}" for model in named)
    versions = " and ".join(f"{name} {version}" for name, version in document["versions"].items())
    return (f"tuned models of the zoo run {min(tuned.values()):.1f} to {max(tuned.values()):.1f} times as "
            f"fast as the faster\nof {versions} ({models};\n"
            f"{mean(document, 'tuned', 2):.1f} in the geometric mean of {len(tuned)}), untuned ones "
            f"{min(untuned.values()):.1f} to {max(untuned.values()):.1f} times")
