"""Charts as SVG: panels in rows, of lines or of bars, with one legend below them."""
from xml.sax.saxutils import escape

COLOURS = ["#1f5fa8", "#c8501e", "#2b8a3e", "#7a3fa0", "#b8860b", "#5a5a5a", "#c02f6b", "#168a8f"]
PANEL, WIDE, HEIGHT, LEFT, TOP, GAP, LINE = 300, 640, 210, 52, 56, 62, 18  # wide: of bars
IN_A_ROW, ROW_GAP = 4, 16  # of panels
TWICE = " ×2"  # ends the name of a series that is drawn dashed, in the colour of the one without


def ticks(low, high):
    """About five round numbers between the two."""
    step = 10.0 ** len(str(int(max(high - low, 1))))
    while (high - low) / step < 4:
        step /= 2 if str(step)[0] in "12" else 2.5
    first = int(low / step) * step
    return [first + i * step for i in range(12) if low <= first + i * step <= high * 1.0001]


def text(x, y, words, anchor="start", size=11):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(words)}</text>'


def rule(x1, y1, x2, y2, colour):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def frame(x, width, title, low, high):
    """A panel's title, horizontal rules and their numbers; and where a value lies."""
    def place(value):
        return TOP + HEIGHT - HEIGHT * (value - low) / (high - low)

    parts = [text(x + width / 2, TOP - 8, title, "middle", 12)]
    for value in ticks(low, high):
        parts += [rule(x, place(value), x + width, place(value), "#dddddd"),
                  text(x - 5, place(value) + 4, f"{value:g}", "end")]
    return parts + [rule(x, TOP + HEIGHT, x + width, TOP + HEIGHT, "#444444")], place


def line_panel(x, panel, colours):
    """panel: title, {series: [(trial, value)]}. The axis begins where the slowest is after a quarter."""
    title, series = panel
    points = [point for curve in series.values() for point in curve]
    last = max(trial for trial, _ in points)
    values = [value for trial, value in points if trial >= last / 4]
    low, high = min(values), max(values)
    low -= 0.05 * (high - low) + 0.01 * high
    parts, place = frame(x, PANEL, title, low, high + 0.03 * (high - low))
    for trial in ticks(0, last):
        parts.append(text(x + PANEL * trial / last, TOP + HEIGHT + 15, f"{trial:g}", "middle"))
    parts.append(f'<clipPath id="{title}"><rect x="{x}" y="{TOP}" width="{PANEL}" '
                 f'height="{HEIGHT}"/></clipPath>')
    for name, curve in series.items():
        path = " ".join(f"{x + PANEL * trial / last:.1f},{place(value):.1f}"
                        for trial, value in curve)
        dash = ' stroke-dasharray="5 3"' if name.endswith(TWICE) else ""
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colours[name]}" '
                     f'stroke-width="1.8"{dash} clip-path="url(#{title})"/>')
    return parts


def bar_panel(x, panel, colours):
    """panel: title, {series: [(label, value)]}, the same labels in all."""
    title, series = panel
    labels = [label for label, _ in next(iter(series.values()))]
    highest = max(value for bars in series.values() for _, value in bars)
    parts, place = frame(x, WIDE, title, 0, 1.05 * highest)
    width = WIDE / len(labels)
    for i, label in enumerate(labels):
        middle = x + width * (i + 0.5)
        parts.append(f'<text transform="translate({middle + 3:.1f} {TOP + HEIGHT + 12}) rotate(-35)" '
                     f'text-anchor="end" font-size="10">{escape(label)}</text>')
        for j, (name, bars) in enumerate(series.items()):
            bar = 0.8 * width / len(series)
            top = place(bars[i][1])
            parts.append(f'<rect x="{x + width * (i + 0.1) + j * bar:.1f}" y="{top:.1f}" '
                         f'width="{bar:.1f}" height="{TOP + HEIGHT - top:.1f}" fill="{colours[name]}"/>')
    return parts


def chart(title, axis, panels, draw):
    """The whole picture; `draw` is line_panel or bar_panel."""
    names = list(dict.fromkeys(name for _, series in panels for name in series))
    plain = [name for name in names if not name.endswith(TWICE)]
    colours = {name: COLOURS[plain.index(name.removesuffix(TWICE))] for name in names}
    panel_width = (WIDE if draw is bar_panel else PANEL) + GAP
    width = LEFT + min(len(panels), IN_A_ROW) * panel_width
    row_height = HEIGHT + (78 if draw is bar_panel else 40)
    rows = (len(panels) + IN_A_ROW - 1) // IN_A_ROW
    below = TOP + rows * row_height + (rows - 1) * ROW_GAP
    height = below + LINE * ((len(names) + 3) // 4) + 8
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             f'viewBox="0 0 {width} {height}" font-family="sans-serif" fill="#222222">',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             text(LEFT, 18, title, size=14), text(LEFT, 34, axis)]
    for i, panel in enumerate(panels):
        parts += [f'<g transform="translate(0 {i // IN_A_ROW * (row_height + ROW_GAP)})">',
                  *draw(LEFT + i % IN_A_ROW * panel_width, panel, colours), "</g>"]
    for i, name in enumerate(names):
        x, y = LEFT + (width - LEFT) / 4 * (i % 4), below + LINE * (i // 4)
        wide = 7 if name.endswith(TWICE) else 16
        parts += [f'<rect x="{x:.1f}" y="{y - 6}" width="{wide}" height="4" fill="{colours[name]}"/>',
                  text(x + 21, y, name)]
    return "\n".join(parts + ["</svg>"]) + "\n"
