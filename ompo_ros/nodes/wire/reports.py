"""What robot-facing nodes report: an episode, and how control goes."""

from __future__ import annotations

from collections.abc import Mapping

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from ompo_msgs.msg import EpisodeSummary

from ompo_ros.control.episode import TARGET_DOMAIN, FinishedEpisode


def episode_summary(
    finished: FinishedEpisode, *, run_id: str, collector_id: str, episode: int, stamp: Time
) -> EpisodeSummary:
    """Sum an episode up; one that broke off is marked so."""
    return EpisodeSummary(
        stamp=stamp,
        run_id=run_id,
        collector_id=collector_id,
        origin=EpisodeSummary.TARGET,
        outcome=EpisodeSummary.DROPPED if finished.transitions is None else EpisodeSummary.TRUNCATED,
        episode=episode,
        steps=finished.steps,
        episode_return=finished.episode_return,
        success=finished.success,
        deterministic=finished.deterministic,
        policy_version=finished.policy_version,
        domain_id=TARGET_DOMAIN,
    )


def control_report(
    name: str, robot: str, phase: str, problem: str, figures: Mapping[str, object], stamp: Time
) -> DiagnosticArray:
    """One status for /diagnostics: a warning while there is a problem."""
    status = DiagnosticStatus(
        level=DiagnosticStatus.WARN if problem else DiagnosticStatus.OK,
        name=f"{name}: control",
        message=problem or phase,
        hardware_id=robot,
        values=[KeyValue(key=key, value=str(value)) for key, value in figures.items()],
    )
    report = DiagnosticArray(status=[status])
    report.header.stamp = stamp
    return report
