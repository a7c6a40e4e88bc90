"""Tables of bench/threads, from rows as report.result makes them."""
import math

BEYOND = "more threads than cores"
LEAST_SHARE = 0.5  # of the speed with all cores
MOST_ERROR = 1e-3  # of the largest element, against one thread


def geometric_mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def scaling(rows, row, engine):
    """How many times as fast the engine is as on one thread; None where that was not measured."""
    ones = [r["latency_ms"].get(engine) for r in rows
            if (r["model"], r["kind"], r["threads"]) == (row["model"], row["kind"], 1)]
    now = row["latency_ms"].get(engine)
    return ones[0] / now if ones and ones[0] and now else None


def number(value, form="{:.2f}"):
    return "–" if value is None else form.format(value)


def lines_of(columns, rows):
    return ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns),
            *("| " + " | ".join(cells) + " |" for cells in rows)]


def within(rows):
    return [row for row in rows if row["kind"] != BEYOND]


def beyond(rows):
    return [row for row in rows if row["kind"] == BEYOND]


def share(row):
    """Of the speed with all cores."""
    return row["latency_ms"]["all cores"] / row["latency_ms"]["attune"]


def threads_lines(rows, peers):
    engines = ["attune", *peers]
    columns = ["model", "Attune", "threads", *(f"{engine} ms" for engine in engines),
               *(f"× {peer}" for peer in peers), *(f"{engine}, × one thread" for engine in engines),
               "largest error"]
    cells = []
    for row in within(rows):
        ratios = [row["ratio"].get(peer, {}).get("ratio") for peer in peers]
        error = max(row["max_error"].values(), default=None)
        cells.append([row["model"], row["kind"], str(row["threads"]),
                      *(number(row["latency_ms"].get(engine), "{:.3f}") for engine in engines),
                      *map(number, ratios), *(number(scaling(rows, row, e)) for e in engines),
                      number(error, "{:.1e}")])
    return lines_of(columns, cells)


def mean_lines(rows, peers):
    """Geometric means over the models of each kind and number of threads."""
    cells = []
    for kind in dict.fromkeys(row["kind"] for row in within(rows)):
        for threads in sorted({row["threads"] for row in within(rows) if row["kind"] == kind}):
            those = [r for r in rows if (r["kind"], r["threads"]) == (kind, threads)]
            scaled = [s for s in (scaling(rows, row, "attune") for row in those) if s]
            found = [[r["ratio"][peer]["ratio"] for r in those if peer in r["ratio"]] for peer in peers]
            cells.append([kind, str(threads), str(len(those)),
                          *(number(geometric_mean(ratios) if ratios else None) for ratios in found),
                          *(number(min(ratios, default=None)) for ratios in found),
                          number(geometric_mean(scaled) if scaled else None)])
    columns = ["Attune", "threads", "models", *(f"× {peer}, geometric mean" for peer in peers),
               *(f"least × {peer}" for peer in peers), "× one thread, geometric mean"]
    return lines_of(columns, cells)


def beyond_lines(rows):
    return lines_of(["model", "threads", "ms", "ms on all cores", "share of that speed", "largest error"],
                    [[row["model"], str(row["threads"]), number(row["latency_ms"]["attune"], "{:.3f}"),
                      number(row["latency_ms"]["all cores"], "{:.3f}"), number(share(row)),
                      number(row["max_error"]["one thread"], "{:.1e}")] for row in beyond(rows)])


def page(rows, peers):
    parts = []
    if within(rows):
        parts += [threads_lines(rows, peers), mean_lines(rows, peers)]
    if beyond(rows):
        parts.append(["More threads than cores:", "", *beyond_lines(rows)])
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def faults(rows):
    """What must not be, in words."""
    for row in beyond(rows):
        where = f"{row['model']} on {row['threads']} threads"
        # Written so that what is no number is a fault, too.
        if not row["max_error"]["one thread"] <= MOST_ERROR:
            yield f"{where} differs from one thread by {row['max_error']['one thread']:.1e}"
        if not share(row) >= LEAST_SHARE:
            yield f"{where} has {share(row):.2f} of the speed with all cores"
