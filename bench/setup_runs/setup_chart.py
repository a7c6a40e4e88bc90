"""A chart of all setups over the same seconds: a strip for each resource, a colour for each job."""
from xml.sax.saxutils import escape

import setup_table

COLOURS = ["#1f5fa8", "#c8501e", "#2b8a3e", "#b8860b", "#7a3fa0", "#168a8f"]
LEFT, RIGHT, TOP, STRIP, GAP, WIDTH = 110, 60, 34, 11, 10, 900


def text(x, y, words, anchor="start", size=11):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(words)}</text>'


def strips(run, y, scale, jobs):
    parts = []
    for row, pool in enumerate(setup_table.pools(run)):
        top = y + row * STRIP
        parts.append(text(LEFT - 6, top + STRIP - 2, "host" if pool == "host" else "device", "end",
                          9))
        for job, kind, where, _, start, end in (stage[:6] for stage in run["stages"]):
            if where != pool:
                continue
            parts.append(f'<rect x="{LEFT + start * scale:.1f}" y="{top}" '
                         f'width="{max((end - start) * scale, 0.3):.1f}" height="{STRIP - 1}" '
                         f'fill="{COLOURS[jobs.index(job) % len(COLOURS)]}" fill-opacity="0.8">'
                         f'<title>{escape(kind)}</title></rect>')
    return parts


def gantt(runs):
    jobs = sorted({stage[0] for stage in runs["A"]["stages"]})
    longest = max(setup_table.makespan(run) for run in runs.values())
    scale = WIDTH / longest
    block = 2 * STRIP + GAP
    height = TOP + len(runs) * block + 40
    width = LEFT + WIDTH + RIGHT
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             f'viewBox="0 0 {width} {height}" font-family="sans-serif" fill="#222222">',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             text(LEFT, 18, "Stages on host and device, by job; seconds from left to right", size=13)]
    for i, (name, run) in enumerate(runs.items()):
        y = TOP + i * block
        parts.append(text(6, y + STRIP + 4, name, size=12))
        parts += strips(run, y, scale, jobs)
        parts.append(text(LEFT + setup_table.makespan(run) * scale + 4, y + STRIP + 4,
                          f"{setup_table.makespan(run):.0f} s"))
    bottom = TOP + len(runs) * block + 8
    for i, (job, model) in enumerate(zip(jobs, runs["A"]["jobs"])):
        parts += [f'<rect x="{LEFT + i * 150}" y="{bottom}" width="12" height="8" '
                  f'fill="{COLOURS[i % len(COLOURS)]}"/>',
                  text(LEFT + i * 150 + 17, bottom + 8, f"{job}: {model}")]
    return "\n".join(parts + ["</svg>"]) + "\n"
