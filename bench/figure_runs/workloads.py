"""The operators that benches measure, and what hand-written code makes of them.

Hand-written times were taken on one core of an AVX2 processor with a peak of HAND_WRITTEN_PEAK
GFLOP/s, the best of all algorithms; they are scaled by the peak of the machine at hand.
"""

# layer: (H = W, input channels, output channels, kernel, stride): ResNet-18's convolutions
CONVOLUTIONS = {
    "C1": (224, 3, 64, 7, 2), "C2": (56, 64, 64, 3, 1), "C3": (56, 64, 64, 1, 1),
    "C4": (56, 64, 128, 3, 2), "C5": (56, 64, 128, 1, 2), "C6": (28, 128, 128, 3, 1),
    "C7": (28, 128, 256, 3, 2), "C8": (28, 128, 256, 1, 2), "C9": (14, 256, 256, 3, 1),
    "C10": (14, 256, 512, 3, 2), "C11": (14, 256, 512, 1, 2), "C12": (7, 512, 512, 3, 1),
}
# layer: (H = W, channels, stride): MobileNet's depthwise convolutions
DEPTHWISE = {
    "D1": (112, 32, 1), "D2": (112, 64, 2), "D3": (56, 128, 1), "D4": (56, 128, 2), "D5": (28, 256, 1),
    "D6": (28, 256, 2), "D7": (14, 512, 1), "D8": (14, 512, 2), "D9": (7, 1024, 1),
}
PRODUCTS = (256, 512, 1024)  # rows, columns and depth

HAND_WRITTEN_PEAK = 103.7
HAND_WRITTEN_US = {
    "C1": 2330, "C2": 740, "C3": 265, "C4": 1151, "C5": 141, "C6": 650, "C7": 1146, "C8": 132, "C9": 850,
    "C10": 1111, "C11": 133, "C12": 1640,
    "D1": 77.6, "D2": 59.2, "D3": 80.6, "D4": 33.1, "D5": 44.4, "D6": 18.8, "D7": 25.7, "D8": 8.6,
    "D9": 13.4,
    "GEMM 512": 2 * 512**3 / (0.98 * HAND_WRITTEN_PEAK * 1e3),
    "GEMM 1024": 2 * 1024**3 / (0.93 * HAND_WRITTEN_PEAK * 1e3),
}


def hand_written_us(name, peak_gflops):
    """What hand-written code would take on a core with this peak; None where nobody wrote it."""
    us = HAND_WRITTEN_US.get(name)
    return us and us * HAND_WRITTEN_PEAK / peak_gflops


def convolution(layer):
    size, inputs, outputs, kernel, stride = CONVOLUTIONS[layer]
    return (f"conv2d:h={size},w={size},ic={inputs},oc={outputs},kh={kernel},kw={kernel},"
            f"stride={stride},pad={kernel // 2}")


def depthwise(layer):
    size, channels, stride = DEPTHWISE[layer]
    return f"depthwise:h={size},w={size},c={channels},k=3,stride={stride}"


def product(size, operator="matmul"):
    return f"{operator}:m={size},n={size},k={size}"


def convolution_flops(layer):
    size, inputs, outputs, kernel, stride = CONVOLUTIONS[layer]
    return 2 * (size // stride) ** 2 * outputs * inputs * kernel ** 2


def all_operators():
    """{name: spec} of all of them."""
    named = {layer: convolution(layer) for layer in CONVOLUTIONS}
    named |= {layer: depthwise(layer) for layer in DEPTHWISE}
    return named | {f"GEMM {size}": product(size) for size in PRODUCTS}
