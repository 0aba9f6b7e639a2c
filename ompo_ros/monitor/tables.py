"""Small tables in HTML; everything that came from elsewhere is escaped."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Final

from ompo_ros.monitor.run_state import Belief, Line, PolicyRow

_STYLE: Final = (
    "<style>.o{width:100%;border-collapse:collapse;font-size:12px;line-height:1.35}"
    ".o td,.o th{padding:2px 5px;text-align:left;vertical-align:top;border-bottom:1px solid #8883;font-weight:400}"
    ".o th{opacity:.6}.o .n{text-align:right;font-variant-numeric:tabular-nums}.o .off{color:#ffb454}"
    ".o b{padding:0 5px;border-radius:7px;font-weight:600;color:#10151c}.o .latest{background:#7fb2ff}"
    ".o .stable{background:#63d68b}.o .pinned{background:#ffcf5c}.o .bad{color:#ff8f7a}.o .good{color:#63d68b}"
    ".o small{opacity:.65}.o td:last-child{overflow-wrap:anywhere}.none{opacity:.6;font-size:12px}</style>"
)
_NOTES: Final = 90  # characters of a note


def policies_table(policies: Sequence[PolicyRow], running: int, shown: int = 10) -> str:
    """The newest policies and those in use, newest first."""
    if not policies:
        return _nothing("No policy server answers, or it has no policy yet.")
    newest = sorted(policies, key=lambda row: -row.version)
    rows = [row for i, row in enumerate(newest) if i < shown or row.channels or row.pinned]
    return _table(("version", "success", "why"), (_policy(row, running) for row in rows))


def _policy(row: PolicyRow, running: int) -> tuple[str, ...]:
    marks = [*row.channels, *(["pinned"] if row.pinned else [])]
    badges = " ".join(f'<b class="{mark}">{mark}</b>' for mark in marks if mark in ("latest", "stable", "pinned"))
    runs = " ▶" if row.version == running else ""
    rate = "" if math.isnan(row.success_rate) else f"{row.success_rate:.0%} <small>of {row.episodes}</small>"
    return f"{row.version}{runs} {badges}", rate, f"<small>{escape(row.note[:_NOTES])}</small>"


def belief_table(belief: Belief | None, nominal: Mapping[str, float], truth: Mapping[str, Sequence[str]]) -> str:
    """A parameter's means, one column a joint, over the truth where it is known; what is off nominal stands out."""
    if belief is None:
        return _nothing("Nothing is known of the arm yet: the identifier needs 25 steps of the target.")
    groups: dict[str, list[str]] = {}
    for name, mean, deviation in zip(belief.names, belief.means, belief.deviations, strict=True):
        parameter = name.split(".")[0]
        off = abs(mean - nominal.get(parameter, mean)) > 2.0 * deviation
        groups.setdefault(parameter, []).append(
            f'<span class="{"off" if off else ""}" title="± {deviation:.3g}">{mean:.2f}</span>'
        )
    heads = ("parameter", *map(str, range(1, 1 + max(map(len, groups.values())))))
    rows: list[tuple[str, ...]] = []
    for name, cells in groups.items():
        rows.append((escape(name.replace("_", " ")), *cells))
        if texts := truth.get(name):
            each = texts if len(texts) == len(cells) else [", ".join(texts)] * len(cells)
            rows.append(("<small>truth</small>", *(f"<small>{escape(text)}</small>" for text in each)))
    return (
        _table(heads, rows, numbers=True)
        + f'<div class="none" style="padding:4px 10px">After {belief.target_steps} target steps: {_error(belief)}'
        f"commands act after {belief.command_delay} steps{_true_delay(truth)}. "
        "Orange: off nominal by 2 deviations.</div>"
    )


def _error(belief: Belief) -> str:
    if math.isnan(belief.error):
        return ""
    return (
        f"error of a predicted step {belief.error:.0%} of its motion, {belief.prior_error:.0%} by the sources' first "
        "domain; "
    )


def _true_delay(truth: Mapping[str, Sequence[str]]) -> str:
    return f" <small>(truth {escape(', '.join(truth['command_delay']))})</small>" if "command_delay" in truth else ""


def lines_table(lines: Iterable[Line], nothing: str) -> str:
    """Lines with their time, newest first."""
    rows = [
        (line.clock, f'<span class="{"good" if line.good else "bad"}">{escape(line.who)}</span>', escape(line.text))
        for line in reversed(list(lines))
    ]
    return _table((), rows) if rows else _nothing(nothing)


def _nothing(text: str) -> str:
    return f'{_STYLE}<div class="none" style="padding:4px 10px">{text}</div>'


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: bool = False) -> str:
    kind = ' class="n"' if numbers else ""
    head = "".join(f"<th>{name}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td{kind}>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'{_STYLE}<div style="padding:2px 8px"><table class="o"><tr>{head}</tr>{body}</table></div>'
