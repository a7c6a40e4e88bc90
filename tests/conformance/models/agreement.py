"""When an output counts as the same. Needs numpy; import it inside the peers' environment.

f32: the largest difference is at most 1e-3 of the largest value; f16: 1e-2. Quantised models compute
in whole steps, and a rounding that falls the other way moves a value by a step: two steps of 1/127 of
the largest value. Whole numbers must be equal, up to ties: a few places where two candidates are as
good as the same.
"""
import numpy

LIMITS = {"f32": 1e-3, "f16": 1e-2, "quantised": 2 / 127}
MOST_TIES = 0.01  # of the elements


def compare(found, expected, tolerance):
    """The error relative to the largest value, and what is wrong ("" when nothing is)."""
    expected = numpy.asarray(expected)
    if found.shape != expected.shape:
        return float("inf"), f"has the shape {found.shape}, expected {expected.shape}"
    if found.dtype != expected.dtype:
        return float("inf"), f"is of type {found.dtype}, expected {expected.dtype}"
    if expected.size == 0:
        return 0.0, ""
    if not numpy.issubdtype(expected.dtype, numpy.floating):
        share = float(numpy.mean(found != expected))
        return share, f"differs in {share:.1%} of its elements" if share > MOST_TIES else ""
    wide, wanted = found.astype(numpy.float64), expected.astype(numpy.float64)
    special = ~numpy.isfinite(wanted)
    if not numpy.array_equal(wide[special], wanted[special], equal_nan=True):
        return float("inf"), "has infinities or NaNs in other places"
    if special.all():
        return 0.0, ""
    largest = numpy.abs(wanted[~special]).max()
    error = numpy.abs(wide[~special] - wanted[~special]).max() / (largest if largest > 0 else 1.0)
    if not error <= LIMITS[tolerance]:
        return float(error), f"differs by {error:.1e} of its largest value, allowed {LIMITS[tolerance]:.1e}"
    return float(error), ""
