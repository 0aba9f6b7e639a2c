"""The learner's parameters, separate from the others: the settings of the algorithms are among them."""

from __future__ import annotations

from dataclasses import dataclass, field

from ompo_ros.learning.config import Config
from ompo_ros.learning.pacing import Pacing
from ompo_ros.nodes.parameters import RobotParameters, RunParameters, SeedParameters, TaskParameters
from ompo_ros.parameters import parameter


@dataclass(frozen=True)
class LearnerParameters(RunParameters, TaskParameters, RobotParameters, SeedParameters):
    """Of learner."""

    device: str = parameter("auto", "Device of the networks: auto, cpu, cuda or cuda:N.")
    run_dir: str = parameter("runs/adapt", "Folder of the run's checkpoints and logs.")
    resume: bool = parameter(False, "Continue from the run's newest checkpoint; without one, start a new run.")
    pretrained: str = parameter("", "Networks to start from: a file, or one under models/. Empty: none.")
    warm_start: str = parameter(
        "", "Recordings to learn from as well: files or folders of runs, by commas. Empty: none."
    )
    demonstrations: str = parameter(
        "", "Recordings whose successful episodes are demonstrations: files or folders of runs, by commas. Empty: none."
    )
    publish_period: float = parameter(2.0, "Seconds between two published actors.", low=0.05, high=3600.0)
    checkpoint_period: float = parameter(60.0, "Seconds between two checkpoints.", low=1.0, high=1e6)
    keep_checkpoints: int = parameter(2, "Checkpoints kept.", low=1, high=1000)
    pacing: Pacing = field(default_factory=Pacing, metadata={"prefix": ""})
    learning: Config = field(default_factory=Config, metadata={"prefix": "learning."})
