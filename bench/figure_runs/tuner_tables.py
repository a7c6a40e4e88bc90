"""The tables of docs/performance.md on the tuner itself and on cost models, from raw rows."""

MODEL_COLUMNS = {
    "cost model": "{model}", "in order, 16": "{in_order_16:.2f}", "in order, 64": "{in_order_64:.2f}",
    "recall, 64": "{recall_64:.2f}", "trials": "{trials:.1f}", "fit, 64 examples": "{fit_ms:g} ms",
    "a prediction": "{prediction_us:g} µs", "of a new point": "{new_point_us:g} µs",
}


def table_of(heads, lines):
    return "\n".join(["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads),
                      *("| " + " | ".join(cells) + " |" for cells in lines)]) + "\n"


def cell(form, row):
    try:
        return form.format(**row)
    except KeyError:
        return "–"


def cost_models(document):
    """A row that says what it is `of` was measured with other code than its neighbours."""
    lines = [[cell(form, row) for form in MODEL_COLUMNS.values()] for row in document["results"]]
    origins = {}
    for row in document["results"]:
        if "of" in row:
            origins.setdefault(row["of"], []).append(f"`{row['model']}`")
    said = [f"\nOf {of}: {', '.join(models)}.\n" for of, models in origins.items()]
    return table_of(MODEL_COLUMNS, lines) + "".join(said)


def tuner(document, computed):
    """What was measured is a text with `values`; `computed` has those that other raw files give."""
    lines = [[row["figure"], row["command"], row["measured"].format(**row.get("values", {}), **computed),
              row.get("goal", "–")] for row in document["results"]]
    return table_of(["figure", "command", "measured", "goal"], lines)
