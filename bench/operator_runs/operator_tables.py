"""Tables of bench/operators, from rows as its --json writes them."""

# set: (title, heading of the figure)
TITLES = {
    "gemm": ("Matrix products", "% of peak"),
    "conv": ("ResNet-18 convolutions, direct, one thread", "% of peak"),
    "winograd": ("Winograd F(4,3), one thread", "times as fast as direct"),
    "depthwise": ("Depthwise 3×3, one thread", "time ÷ hand-written, scaled by peak"),
}
LONG_CALL_US = 20_000  # from here on it is the calls that take the time of a trial


def limit(name, goal):
    return "–" if goal is None else f"{'≤' if name == 'depthwise' else '≥'} {goal}"


def table(name, rows):
    title, heading = TITLES[name]
    lines = [f"### {title}", "", f"| operator | threads | best µs | untuned µs | {heading} | goal | "
             "untuned % of peak | trials a second |", "|---|---|---|---|---|---|---|---|"]
    for r in rows:
        figure = f"{r['ratio']:.2f}" if "ratio" in r else f"{r['percent']:.1f}"
        lines.append(f"| {r['label']} | {r['threads']} | {r['best_us']:.1f} | {r['default_us']:.1f} | "
                     f"{figure} | {limit(name, r['goal'])} | {r['default_percent']:.1f} | "
                     f"{r['trials_per_second']:.1f} |")
    return "\n".join(lines) + "\n"


def days(rows):
    """When the rows were written down."""
    found = sorted({row["day"] for row in rows})
    return found[0] if len(found) == 1 else f"{found[0]} to {found[-1]}"


def section(document, name):
    """The table of a set, and when it was made."""
    rows = [row for row in document["results"] if row["set"] == name]
    return f"{table(name, rows)}\nWritten down {days(rows)}.\n"


def trials_per_second(document):
    """Of operators whose calls are short, and of Winograd."""
    def span(names):
        rates = [row["trials_per_second"] for row in document["results"]
                 if row["set"] in names and row["best_us"] < LONG_CALL_US]
        return f"{min(rates):.0f}–{max(rates):.0f}"

    return (f"{span(['gemm', 'conv', 'depthwise'])} where a call takes less than "
            f"{LONG_CALL_US // 1000} ms, {span(['winograd'])} Winograd")
