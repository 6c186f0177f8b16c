"""Server machines of SMD as the keys of one stream, row i of each at minute i.

Their labels say when one machine is anomalous, not what machines have in common, and their rows are not of the same time. So
an episode that joins an incident of another machine joins it by chance: the share of such ones is what can be measured.
"""

import gzip
from pathlib import Path
from typing import Any, NamedTuple, Optional

from .. import data
from .outcome import run

FIRST_TIME = 1_767_571_200


class Joined(NamedTuple):
    episodes: int
    wrongly_joined: int


def files() -> list[Path]:
    for folder in data.folders():
        found = sorted((folder / "real").glob("SMD-*.csv.gz"))
        if found:
            return found
    return []


def csv_text(paths: list[Path]) -> bytes:
    machines = [gzip.open(path, "rt", encoding="ascii").read().splitlines() for path in paths]
    lines = ["at,host," + machines[0][0].rsplit(",", 1)[0]]
    for i in range(1, min(len(rows) for rows in machines)):
        for path, rows in zip(paths, machines):
            key = path.name.split("-", 1)[1].split(".")[0]
            lines.append(f"{FIRST_TIME + 60 * i},{key},{rows[i].rsplit(',', 1)[0]}")
    return ("\n".join(lines) + "\n").encode()


def judge(records: list[dict[str, Any]]) -> Joined:
    episodes = joined = 0
    for record in records:
        if record["incident"] != "begins":
            keys = [member["key"] for member in record["order"]]
            episodes += len(keys)
            joined += sum(any(before != key for before in keys[:i]) for i, key in enumerate(keys))
    return Joined(episodes, joined)


def measure(oif: Path) -> Optional[Joined]:
    """None without the files."""
    paths = files()
    return judge(run(oif, csv_text(paths))) if len(paths) > 1 else None
