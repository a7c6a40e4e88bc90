"""How far the searches of a figure got, from its table in docs/figures."""
import csv
import statistics

SHOWN = (4, 8, 16, 32, 64)  # trials
FIGURES = (4, 5, 6, 7, 8, 9, 12)  # those of searches


def curves(file):
    """{variant: {operator: {trial: GFLOP/s}}}."""
    found = {}
    with open(file, encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            of = found.setdefault(row["variant"], {}).setdefault(row["operator"], {})
            of[int(row["trial"])] = float(row["gflops"])
    return found


def table(file):
    """In % of the best of the same operator, means over the operators."""
    found = curves(file)
    best = {}
    for operators in found.values():
        for operator, curve in operators.items():
            best[operator] = max(best.get(operator, 0), *curve.values())
    lines = ["| search | " + " | ".join(f"{trial} trials" for trial in SHOWN) + " |",
             "|" + "---|" * (1 + len(SHOWN))]
    for variant, operators in found.items():
        shares = [statistics.mean(100 * curve[trial] / best[operator]
                                  for operator, curve in operators.items()) for trial in SHOWN]
        lines.append(f"| {variant} | " + " | ".join(f"{share:.1f}" for share in shares) + " |")
    return "\n".join(lines) + "\n"
