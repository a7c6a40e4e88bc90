"""The table of bench/builds: how many times as fast the later build is."""
import statistics

import raw_rows


def ratio(row, times="median_ms"):
    return row[times]["before"] / row[times]["after"]


def line(row):
    return (f"{row['model']}, {row['kind']}, {row['threads']} threads: {row['median_ms']['before']:.3f} ->"
            f" {row['median_ms']['after']:.3f} ms, {ratio(row):.3f} times as fast"
            f" (by the fastest {ratio(row, 'best_ms'):.3f})")


def merged(file, facts, rows):
    return raw_rows.merged(file, facts, rows, lambda row: (row["model"], row["threads"], row["kind"]))


def means(rows):
    """Of each kind and number of threads: the geometric mean of the ratios, and the least of them."""
    groups = {}
    for row in rows:
        groups.setdefault((row["kind"], row["threads"]), []).append(row)
    for (kind, threads), group in groups.items():
        least = min(group, key=ratio)
        yield (f"{kind}, {threads} threads: {statistics.geometric_mean(map(ratio, group)):.3f} in the geometric"
               f" mean of {len(group)} (by the fastest"
               f" {statistics.geometric_mean(ratio(row, 'best_ms') for row in group):.3f}),"
               f" least {least['model']} {ratio(least):.3f}")


def page(rows):
    lines = ["| model | kind | threads | before, ms | after, ms | times as fast | by the fastest |",
             "|---|---|---|---|---|---|---|"]
    for row in rows:
        lines.append(f"| {row['model']} | {row['kind']} | {row['threads']} | {row['median_ms']['before']:.3f}"
                     f" | {row['median_ms']['after']:.3f} | {ratio(row):.3f} | {ratio(row, 'best_ms'):.3f} |")
    return "\n".join([*lines, "", *means(rows)]) + "\n"
