#!/usr/bin/env python3
"""Makes the figures of documents from raw rows, or checks that they are as the raw rows say.

Each part stands between `<!-- key -->` and `<!-- /key -->`. Raw rows are in bench/results, where
benches write them. Without --write it prints a line for each part that is stale and exits 1 if
there is one.

usage: doc_figures.py [--write] [ROOT]
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / folder) for folder in ("scripts", "bench/figure_runs", "bench/gpu_runs",
                                                  "bench/operator_runs", "bench/peer_runs")]

import bundle_facts  # noqa: E402
import gpu_page  # noqa: E402
import marked_text  # noqa: E402
import operator_tables  # noqa: E402
import raw_rows  # noqa: E402
import reached_table  # noqa: E402
import report  # noqa: E402
import tuner_tables  # noqa: E402

OPERATORS = str(ROOT / "bench/results/operators.json")
PEERS = str(ROOT / "bench/results/peers.json")
PAGE = "docs/performance.md"
HEADLINE = ("vgg19", "resnet18", "mobilenet_v2", "resnet50", "bert_tiny")


def block(text):
    """A part on lines of its own; tables need an empty line around them."""
    return f"\n{text}"


def parts(root):
    """(document, key, text) of each part."""
    def raw(name):
        return raw_rows.read(root / "bench/results" / f"{name}.json")

    operators, peers = raw("operators"), raw("peers")
    gpu, noted = raw("cuda_h200"), raw("cuda_h200_noted")
    for name in operator_tables.TITLES:
        yield PAGE, name, block(operator_tables.section(operators, name))
    yield PAGE, "peers", block(report.section(peers))
    yield PAGE, "peers_means", report.means(peers)
    yield "README.md", "headline", report.headline(peers, HEADLINE)
    for key, made in gpu_page.BLOCKS.items():
        yield PAGE, key, block(made(gpu, noted))
    yield PAGE, "gpu_trials", gpu_page.trials_per_second(gpu, noted)
    rates = {"operators_trials_per_second": operator_tables.trials_per_second(operators)}
    yield PAGE, "tuner", block(tuner_tables.tuner(raw("tuner"), rates))
    yield PAGE, "cost_models", block(tuner_tables.cost_models(raw("cost_models")))
    for number in reached_table.FIGURES:
        figure = root / "docs/figures" / f"figure{number}.csv"
        yield "docs/reproduction.md", f"figure{number}", block(reached_table.table(figure))
    yield "docs/reproduction.md", "networks", report.span(peers)
    bundle = root / "src/compiler/model/schedules/bundle.jsonl"
    yield "docs/howto/ship_schedules.md", "bundle", block(bundle_facts.sentence(bundle))


def offences(root):
    for document, key, text in parts(root):
        page = (root / document).read_text(encoding="utf-8")
        try:
            if marked_text.replaced(page, key, text) != page:
                yield f"{document}: '{key}' is stale; run scripts/doc_figures.py --write"
        except marked_text.NoPlace as error:
            yield f"{document}: {error}"


def write(root=ROOT):
    for document, key, text in parts(root):
        marked_text.put(root / document, key, text)


def main(arguments):
    rest = [word for word in arguments if word != "--write"]
    root = pathlib.Path(rest[0]) if rest else ROOT
    if "--write" in arguments:
        write(root)
    found = list(offences(root))
    print("\n".join([*found, f"figures: {len(list(parts(root)))} parts, {len(found)} offences"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
