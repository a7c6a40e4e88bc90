"""Tables and JSON of the comparison; runs in pieces add up in one JSON file."""
import json
import os
import pathlib

import interleaved

BEGIN, END = "<!-- peers -->\n", "<!-- /peers -->"


def ratios(best, peers):
    """How many times as fast Attune is as each peer and as the faster one, with intervals."""
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
        "max_error": errors, "disturbed_turns": disturbed,
    }


def merged(file, facts, results):
    """What the file holds already, with the new rows in place of older ones of the same kind."""
    def key(row):
        return row["model"], row["threads"], row["kind"]

    rows = {}
    if file and os.path.exists(file):
        with open(file, encoding="utf-8") as stream:
            rows = {key(row): row for row in json.load(stream)["results"]}
    rows.update({key(row): row for row in results})
    return {**facts, "results": list(rows.values())}


def write_json(file, document):
    pathlib.Path(file + ".new").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    os.replace(file + ".new", file)


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


def write_page(page, document, engines):
    """Puts the table between the markers of docs/performance.md."""
    text = pathlib.Path(page).read_text(encoding="utf-8")
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    body = (f"{versions}; {document['cpu']}. Milliseconds are the median over bursts of the best run in"
            " a burst; ratios over 1 mean that Attune is faster, in brackets where 95 % of repetitions"
            " would lie.\n\n" + table(document["results"], engines))
    head, rest = text.split(BEGIN, 1)
    text = head + BEGIN + body + END + rest.split(END, 1)[1]
    pathlib.Path(page + ".new").write_text(text, encoding="utf-8")
    os.replace(page + ".new", page)
