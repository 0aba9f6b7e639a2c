"""Every setting of every algorithm: its meaning, the paper's value and ours, and what is allowed."""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Value = bool | int | float | str

ALGORITHMS = ("ompo", "sac", "td3", "algaedice", "darc")


class InvalidConfig(ValueError):
    """A setting that cannot be used; `name` says which, the message says what is allowed."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name}: {problem}")
        self.name = name


@dataclass(frozen=True)
class Setting:
    """What a parameter server, a help text or a table needs to know of one setting."""

    name: str
    default: Value
    why: str
    paper: str
    choices: tuple[str, ...]
    low: float
    high: float

    def check(self, value: object) -> Value:
        """Return the value in the setting's own type, or say what is allowed."""
        kind = type(self.default)
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise InvalidConfig(self.name, f"{value!r} is {type(value).__name__}, {kind.__name__} is needed")
        if self.choices and value not in self.choices:
            raise InvalidConfig(self.name, f"{value!r} is not one of {', '.join(self.choices)}")
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            self._check_range(value)
        return value

    def _check_range(self, value: float) -> None:
        if not (math.isfinite(value) and self.low <= value <= self.high):
            raise InvalidConfig(self.name, f"{value} is not within [{self.low:g}, {self.high:g}]")


def _setting(
    default: Value,
    why: str,
    paper: str = "not named",
    choices: tuple[str, ...] = (),
    low: float = 0.0,
    high: float = 1e12,
) -> Any:  # noqa: ANN401 (as dataclasses.field: the field has the type it is declared with)
    return field(default=default, metadata={"why": why, "paper": paper, "choices": choices, "low": low, "high": high})


@dataclass(frozen=True)
class Config:
    """Settings of a learner; `paper` in each is the value of the paper's tables and equations."""

    algorithm: str = _setting("ompo", "which update rule learns", "ompo", ALGORITHMS)
    setting: str = _setting(
        "domain_adaptation",
        "what fills the local buffer: the one environment, or the target of several",
        "all three",
        ("stationary", "domain_adaptation", "non_stationary"),
    )

    # Buffers
    global_capacity: int = _setting(1_000_000, "transitions in D_G, all history", "1e6", low=1)
    local_capacity: int = _setting(1_000, "fresh transitions in D_L that make one round", "1000", low=1)
    initial_capacity: int = _setting(10_000, "initial observations in D_0", low=1)
    merge: str = _setting(
        "immediate",
        "when D_L's transitions join D_G: after the round, or also at once so that the critic waits for none",
        "round",
        ("round", "immediate"),
    )

    # Networks
    hidden_size: int = _setting(256, "width of both hidden layers", "256", low=1, high=65_536)
    first_layer: str = _setting(
        "elu",
        "first hidden layer of actor and critic: plain ELU, or LayerNorm and tanh as in the authors' program",
        "elu",
        ("elu", "layernorm_tanh"),
    )
    critics: int = _setting(
        2, "critic heads; the least of them is believed", "1 (the authors' program: 2)", low=1, high=16
    )
    log_std_min: float = _setting(-20.0, "least log standard deviation of the policy", "-20", low=-20, high=0)
    log_std_max: float = _setting(2.0, "greatest log standard deviation of the policy", "2", low=-5, high=2)
    normalize_obs: bool = _setting(False, "centre and scale observations by their running statistics", "no")
    normalize_reward: bool = _setting(False, "divide the transformed reward by its running deviation", "no")

    # Optimisation
    batch_size: int = _setting(256, "transitions of a mini-batch", "256", low=1, high=1_000_000)
    critic_lr: float = _setting(3e-4, "Adam step of the critics", "3e-4", low=0, high=1)
    actor_lr: float = _setting(3e-4, "Adam step of the actor", "1e-4 (the authors' program: 3e-4)", low=0, high=1)
    temperature_lr: float = _setting(
        3e-4, "Adam step of the entropy temperature", "3e-4 in the authors' program", low=0, high=1
    )
    discriminator_lr: float = _setting(
        3e-4, "Adam step of the discriminator", "3e-4 in the authors' program", low=0, high=1
    )
    initial_batch_size: int = _setting(
        64,
        "initial states of a mini-batch; their term weighs little",
        "256 in the authors' program",
        low=1,
        high=1_000_000,
    )
    discount: float = _setting(0.99, "discount factor gamma", "0.99", low=0, high=1)
    target_tau: float = _setting(
        0.005, "step of target networks towards the learned ones", "none (the authors' program: 0.005)", low=0, high=1
    )
    actor_average_tau: float = _setting(
        1.0,
        "step of the deterministic actor towards the learned one, which explores; below 1 it is a running average",
        "none",
        low=1e-6,
        high=1,
    )
    actor_period: int = _setting(
        0,
        "critic steps per actor and target step; 0 is the algorithm's own",
        "2 in the authors' program",
        low=0,
        high=1_000,
    )
    entropy_temperature: str = _setting(
        "auto",
        "entropy bonus: tuned towards the target entropy, kept at its initial value, or left out",
        "none (the authors' program: auto)",
        ("auto", "fixed", "none"),
    )
    initial_temperature: float = _setting(1.0, "entropy temperature at the start", low=1e-8, high=1e3)
    target_entropy_per_dim: float = _setting(
        -1.0, "target entropy per action dimension", "-1 in the authors' program", low=-20, high=5
    )

    # Reward
    reward: str = _setting(
        "raw",
        "logarithm of the positive reward as the theory asks, or the reward itself",
        "log (OMPO-r: raw)",
        ("log", "raw"),
    )
    reward_scale: float = _setting(1.0, "factor of the task's affine map to positive rewards", low=1e-9, high=1e9)
    reward_shift: float = _setting(
        0.0, "shift of the task's affine map to positive rewards", "1 in the authors' program", low=-1e9, high=1e9
    )
    reward_floor: float = _setting(
        1e-6, "least reward after the map, for the logarithm", "1e-6 in the authors' program", low=1e-30, high=1e9
    )

    # OMPO's objective (q, alpha and the weight's limit also AlgaeDICE's)
    q: float = _setting(1.5, "order of the conjugate f*", "1.5", low=1.0 + 1e-6, high=2.0)
    alpha: float = _setting(0.001, "weight of the occupancy divergence", "0.001", low=1e-9, high=1e3)
    discrepancy: str = _setting(
        "bound",
        "sign of R: minus as printed, plus as the lower bound has it, or no R",
        "paper",
        ("paper", "bound", "none"),
    )
    discrepancy_weight: float = _setting(0.001, "weight of R in the reward", "alpha = 0.001", low=0, high=1e3)
    discrepancy_bound: float = _setting(3.0, "R is held within plus and minus this", "none", low=1e-6, high=1e3)
    linear_part: bool = _setting(
        False, "keep f*'s linear part, which a semi-gradient cannot balance", "yes (the authors' program: no)"
    )
    initial_term: bool = _setting(True, "pay for the value of initial states", "yes")
    bootstrap: str = _setting(
        "target",
        "value beyond a transition: target critics without gradient, or the critics themselves as in the equations",
        "online (the authors' program: target)",
        ("target", "online"),
    )
    online_share: float = _setting(
        0.0, "share of the learned critics in a target bootstrap", "0.05 in the authors' program", low=0, high=1
    )
    weight_max: float = _setting(
        1e6,
        "greatest density ratio w in the actor's step; the least is 0",
        "1e6 in the authors' program",
        low=1e-9,
        high=1e12,
    )

    # Discriminator
    gradient_penalty: float = _setting(
        10.0, "weight of the penalty on the logit's gradient norm", "10 in the authors' program", low=0, high=1e6
    )
    discriminator_draws: int = _setting(
        10, "draws of |D_L| transitions from D_G per round", "several (the authors' program: 10)", low=1, high=10_000
    )
    discriminator_batches: int = _setting(20, "mini-batches per draw", "20 in the authors' program", low=1, high=10_000)

    # Baselines
    exploration_noise: float = _setting(0.1, "TD3: deviation of the noise before the squash", low=1e-6, high=2)
    smoothing_noise: float = _setting(0.2, "TD3: deviation of the target policy's noise", low=0, high=2)
    smoothing_clip: float = _setting(0.5, "TD3: limit of the target policy's noise", low=0, high=2)
    classifier_noise: float = _setting(1.0, "DARC: deviation of the noise on its classifiers' input", low=0, high=10)
    classifier_warmup: int = _setting(10_000, "DARC: updates before the reward is corrected", low=0)

    # Running
    compile: bool = _setting(False, "let torch.compile fuse the networks; eager where it cannot")
    threads: int = _setting(0, "torch's threads; 0 leaves them as they are", low=0, high=4_096)

    def __post_init__(self) -> None:
        for setting in settings():
            object.__setattr__(self, setting.name, setting.check(getattr(self, setting.name)))
        if self.log_std_min >= self.log_std_max:
            raise InvalidConfig("log_std_min", f"{self.log_std_min} is not below log_std_max ({self.log_std_max})")
        if self.algorithm == "darc" and self.setting != "domain_adaptation":
            raise InvalidConfig("setting", "darc compares source and target: it needs domain_adaptation")

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> Config:
        """Make a config from a file's or a parameter server's values; an unknown name is refused."""
        known = [setting.name for setting in settings()]
        for name in values:
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
                raise InvalidConfig(name, f"is no setting, {hint}")
        return cls(**values)  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Value]:
        return dataclasses.asdict(self)


def settings() -> Iterator[Setting]:
    """Describe all settings, in order, for whoever declares or documents them."""
    for item in dataclasses.fields(Config):
        yield Setting(name=item.name, default=item.default, **item.metadata)  # type: ignore[arg-type]


AUTHORS = {
    "first_layer": "layernorm_tanh",
    "discrepancy": "paper",
    "discrepancy_bound": 16.0,
    "initial_batch_size": 256,
    "online_share": 0.05,
    "reward_shift": 1.0,
}
"""The settings in which the authors' public program differs from the defaults here."""
