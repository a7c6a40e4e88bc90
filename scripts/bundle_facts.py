"""What there is in the bundle of schedules that ships."""
import collections
import json
import pathlib


def sentence(file):
    text = pathlib.Path(file).read_text(encoding="utf-8")
    entries = [json.loads(line) for line in text.splitlines()]
    by_cpu = collections.Counter((entry["cpu"], entry["threads"]) for entry in entries)
    parts = [f"{count} on `{cpu}` with {threads} thread{'s' * (threads > 1)}"
             for (cpu, threads), count in sorted(by_cpu.items())]
    return (f"The bundle that ships has {len(entries)} entries, {len(text.encode()) / 1e6:.1f} MB: "
            f"{', '.join(parts)}.\n")
