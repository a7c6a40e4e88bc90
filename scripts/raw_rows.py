"""Files of raw rows that benches write and documents are made from: JSON, facts of the machine and
`results`, each row on a line of its own, so that git shows which rows were measured anew."""
import json
import os
import pathlib


def read(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def write(path, document):
    facts = {key: value for key, value in document.items() if key != "results"}
    rows = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in document["results"])
    head = json.dumps({**facts, "results": []}, ensure_ascii=False).removesuffix("]}")
    new = pathlib.Path(str(path) + ".new")
    new.write_text(f"{head}\n{rows}\n ]}}\n", encoding="utf-8")
    os.replace(new, path)


def merged(path, facts, rows, key):
    """What the file holds already, with the new rows in place of older ones of the same key."""
    old = read(path) if path and os.path.exists(path) else {"results": []}
    found = {key(row): row for row in [*old["results"], *rows]}
    note = {"note": old["note"]} if "note" in old else {}
    return {**note, **facts, "results": list(found.values())}
