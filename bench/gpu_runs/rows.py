"""Rows of bench/cuda: kept in a file while they are made, printed as a table, and summed up."""
import math
import os

import raw_rows

HEADING = ("| table | what | precision | Attune | plain µs | overlapped µs | library µs | "
           "× plain | × overlapped |\n|" + "---|" * 9)


def key_of(row):
    return row["table"], row["name"], row["precision"], row["kind"]


def plain_us(row):
    return row["ways_us"]["plain"]


def overlapped_us(row):
    return min(row["ways_us"].values())


def least(old, new):
    """The row with the least times of both; what was told of tuning stays."""
    ways = {way: min(us, old["ways_us"].get(way, math.inf)) for way, us in new["ways_us"].items()}
    peer = min((old, new), key=lambda row: row["peer_us"])
    return {**new, **old, "ways_us": ways, "peer_us": peer["peer_us"], "layout": peer["layout"],
            "processes": old.get("processes", 1) + 1}


class Store:
    """By key; written after every row, so that what ends a run costs none of them."""

    def __init__(self, file, facts):
        self.file, self.facts, self.rows = file, facts, {}
        if file and os.path.exists(file):
            found = raw_rows.read(file)["results"]
            self.rows = {key_of(row): row for row in found if "ways_us" in row}

    def add(self, key, row):
        row["card"] = self.facts().get("now")
        self.rows[key] = least(self.rows[key], row) if key in self.rows else row
        if not self.file:
            return
        raw_rows.write(self.file, {**self.facts(), "results": list(self.rows.values())})


def line(row):
    plain, overlapped, peer = plain_us(row), overlapped_us(row), row["peer_us"]
    return (f"| {row['table']} | {row['name']} | {row['precision']} | {row['kind']} | {plain:.2f} | "
            f"{overlapped:.2f} | {peer:.2f} ({row['layout']}) | {peer / plain:.2f} | "
            f"{peer / overlapped:.2f} |")


def means(made):
    """A line for each table and precision."""
    groups = {}
    for row in made:
        groups.setdefault((row["table"], row["precision"], row["kind"]), []).append(row)
    for (table, precision, kind), found in groups.items():
        texts = []
        for name, time_of in (("plain", plain_us), ("overlapped", overlapped_us)):
            ratios = [row["peer_us"] / time_of(row) for row in found]
            mean = math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))
            texts.append(f"{name} {mean:.2f}, least {min(ratios):.2f}")
        rates = [row["tuning"]["trials_per_second"] for row in found
                 if row.get("tuning", {}).get("trials_per_second")]
        if rates:
            texts.append(f"{sum(rates) / len(rates):.1f} trials a second")
        yield f"{table}, {precision}, {kind}: geometric mean of {len(found)}: " + "; ".join(texts)
