"""What bench/cuda measures: single operators, by the names they have in papers, and models."""
import collections

Conv = collections.namedtuple("Conv", "name size inputs outputs kernel stride")
Depthwise = collections.namedtuple("Depthwise", "name size channels stride")
Product = collections.namedtuple("Product", "name m n k constant")

# The different convolutions of ResNet-18, and how often each stands in it.
CONVOLUTIONS = [Conv(*row) for row in (
    ("C1", 224, 3, 64, 7, 2), ("C2", 56, 64, 64, 3, 1), ("C3", 56, 64, 64, 1, 1),
    ("C4", 56, 64, 128, 3, 2), ("C5", 56, 64, 128, 1, 2), ("C6", 28, 128, 128, 3, 1),
    ("C7", 28, 128, 256, 3, 2), ("C8", 28, 128, 256, 1, 2), ("C9", 14, 256, 256, 3, 1),
    ("C10", 14, 256, 512, 3, 2), ("C11", 14, 256, 512, 1, 2), ("C12", 7, 512, 512, 3, 1))]
# All of them, in the order of the network.
SEQUENCE = [CONVOLUTIONS[number - 1] for number in
            (1, 2, 2, 2, 2, 4, 6, 5, 6, 6, 7, 9, 8, 9, 9, 10, 12, 11, 12, 12)]
# Those of MobileNet.
DEPTHWISE = [Depthwise(*row) for row in (
    ("D1", 112, 32, 1), ("D2", 112, 64, 2), ("D3", 56, 128, 1), ("D4", 56, 128, 2),
    ("D5", 28, 256, 1), ("D6", 28, 256, 2), ("D7", 14, 512, 1), ("D8", 14, 512, 2),
    ("D9", 7, 1024, 1))]
NARROW = ("f16", "bf16")
CALLS = 50  # of an operator in a graph
SQUARES = (1024, 2048, 4096)
MODELS = ("resnet18", "resnet50", "vgg19", "mobilenet_v2", "densenet121", "inception_v3",
          "dqn", "dcgan", "lstm_lm", "bert_tiny")


def products(precision):
    """Squares: both operands at run time in f32, weights packed ahead otherwise, as libraries do."""
    return [Product(f"{n}³", n, n, n, precision != "f32") for n in SQUARES]


def skinny():
    return [Product(f"{m}×{n}×{k}", m, n, k, True)
            for m in (1, 4, 16) for n in (1024, 4096) for k in (1024, 4096)]


def spec(work, precision="f32"):
    """As an operator spec of Attune, which has elements of 16 bits in its text."""
    text = plain_spec(work)
    return f"{text},dtype={precision}" if precision in NARROW else text


def command_precision(precision):
    """What is left for --precision, of an operator."""
    return "f32" if precision in NARROW else precision


def plain_spec(work):
    if isinstance(work, Conv):
        return (f"conv2d:h={work.size},w={work.size},ic={work.inputs},oc={work.outputs},"
                f"kh={work.kernel},kw={work.kernel},stride={work.stride},pad={work.kernel // 2}")
    if isinstance(work, Depthwise):
        return f"depthwise:h={work.size},w={work.size},c={work.channels},k=3,stride={work.stride}"
    return f"{'dense' if work.constant else 'matmul'}:m={work.m},n={work.n},k={work.k}"


def tables(precision):
    """Name of a table to names and work of its rows."""
    def named(works):
        return [(work.name, work) for work in works]

    return {"gemm": named(products(precision)), "skinny": named(skinny()),
            "convolutions": named(CONVOLUTIONS), "sequence": [("ResNet-18", SEQUENCE)],
            "depthwise": named(DEPTHWISE), "models": [(model, model) for model in MODELS]}


def wanted(names, precisions):
    """Table, name, work and precision of each row: of whole tables, of single rows, of any model."""
    for precision in precisions.split(","):
        known = tables(precision)
        for name in names or known:
            if name in known:
                for row, work in known[name]:
                    yield name, row, work, precision
                continue
            rows = [(table, row, work) for table, found in known.items() for row, work in found
                    if row == name]
            for table, row, work in rows or [("models", name, name)]:
                yield table, row, work, precision
