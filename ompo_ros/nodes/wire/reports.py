"""Reports of nodes: episode summaries and control diagnostics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from ompo_msgs.msg import EpisodeSummary

from ompo_ros.task.acting import EpisodeResult
from ompo_ros.transitions import Origin
from ompo_ros.words import CONTROL


def episode_summary(
    result: EpisodeResult,
    *,
    origin: Origin,
    run_id: str,
    collector_id: str,
    episode: int,
    stamp: Time,
    domain_names: Sequence[str] = (),
) -> EpisodeSummary:
    """Summarize an episode; an interrupted one is marked."""
    return EpisodeSummary(
        stamp=stamp,
        run_id=run_id,
        collector_id=collector_id,
        origin=int(origin),
        outcome=_outcome(result),
        episode=episode,
        steps=result.steps,
        episode_return=result.episode_return,
        success=result.success,
        deterministic=result.deterministic,
        policy_version=result.policy_version,
        domain_id=result.domain_id,
        domain_names=list(domain_names),
        domain_values=list(result.domain),
    )


def _outcome(result: EpisodeResult) -> int:
    if result.completed:
        return int(EpisodeSummary.TRUNCATED)
    return int(EpisodeSummary.STOPPED if result.stopped else EpisodeSummary.DROPPED)


def control_report(
    name: str, robot: str, phase: str, problem: str, figures: Mapping[str, object], stamp: Time
) -> DiagnosticArray:
    """One status for /diagnostics: a warning while there is a problem."""
    status = DiagnosticStatus(
        level=DiagnosticStatus.WARN if problem else DiagnosticStatus.OK,
        name=f"{name}{CONTROL}",
        message=problem or phase,
        hardware_id=robot,
        values=[KeyValue(key=key, value=str(value)) for key, value in figures.items()],
    )
    report = DiagnosticArray(status=[status])
    report.header.stamp = stamp
    return report
