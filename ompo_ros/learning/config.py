"""Every setting of every algorithm: its meaning, the paper's value, our default and the allowed values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from ompo_ros.parameters import InvalidParameter, Value, check, parameter, parameters_of
from ompo_ros.spelling import meant

ALGORITHMS = ("ompo", "sac", "td3", "algaedice", "darc", "sac_iw")
ON_SOURCES = ("darc", "sac_iw")  # learn only from the sources' transitions, corrected by classifiers


@dataclass(frozen=True)
class Config:
    """Settings of a learner; `paper` in each is the value of the paper's tables and equations."""

    algorithm: str = parameter("ompo", "the update rule", choices=ALGORITHMS, paper="ompo")
    setting: str = parameter(
        "domain_adaptation",
        "what fills the local buffer D_L: all transitions, or only the target's (domain_adaptation)",
        choices=("stationary", "domain_adaptation", "non_stationary"),
        paper="all three",
    )

    # Buffers
    global_capacity: int = parameter(1_000_000, "transitions in D_G, the whole history", low=1, paper="1e6")
    local_capacity: int = parameter(1_000, "fresh transitions in D_L that make one round", low=1, paper="1000")
    initial_capacity: int = parameter(10_000, "initial observations in D_0", low=1, paper="not named")
    merge: str = parameter(
        "immediate",
        "when fresh transitions join D_G: after their round, or at once so that the critic sees them immediately",
        choices=("round", "immediate"),
        paper="round",
    )
    round_period: int = parameter(
        0,
        "fresh transitions between rounds, while D_L keeps its newest ones; 0: a round is a full D_L, then emptied",
        low=0,
        paper="0",
    )
    replay_temper: float = parameter(
        0.0,
        "draw D_G's rows by exp(R) to this power; 0: uniform, 1: distributed as the target's under the current policy",
        low=0,
        high=1,
        paper="0",
    )
    target_share: float = parameter(
        -1.0, "share of the target's rows in a mini-batch; negative: as in D_G", low=-1, high=1, paper="as D_G"
    )
    demonstration_share: float = parameter(
        0.0,
        "share of a mini-batch drawn from demonstrations, once there are any; the rest is drawn as without it",
        low=0,
        high=1,
        paper="none",
    )

    # Networks
    hidden_size: int = parameter(256, "width of both hidden layers", low=1, high=65_536, paper="256")
    first_layer: str = parameter(
        "elu",
        "first hidden layer of actor and critic: plain ELU, or LayerNorm and tanh as in the authors' program",
        choices=("elu", "layernorm_tanh"),
        paper="elu",
    )
    critics: int = parameter(
        2, "critic heads; the smallest value is used", low=1, high=16, paper="1 (the authors' program: 2)"
    )
    log_std_min: float = parameter(-20.0, "least log standard deviation of the policy", low=-20, high=0, paper="-20")
    log_std_max: float = parameter(2.0, "greatest log standard deviation of the policy", low=-5, high=2, paper="2")
    normalize_obs: bool = parameter(False, "centre and scale observations by their running statistics", paper="no")
    normalize_reward: bool = parameter(False, "divide the transformed reward by its running deviation", paper="no")

    # Optimisation
    batch_size: int = parameter(256, "transitions of a mini-batch", low=1, high=1_000_000, paper="256")
    critic_lr: float = parameter(3e-4, "Adam step of the critics", low=0, high=1, paper="3e-4")
    actor_lr: float = parameter(
        3e-4, "Adam step of the actor", low=0, high=1, paper="1e-4 (the authors' program: 3e-4)"
    )
    temperature_lr: float = parameter(
        3e-4, "Adam step of the entropy temperature", low=0, high=1, paper="3e-4 in the authors' program"
    )
    discriminator_lr: float = parameter(
        3e-4, "Adam step of the discriminator", low=0, high=1, paper="3e-4 in the authors' program"
    )
    initial_batch_size: int = parameter(
        64,
        "initial states of a mini-batch; their term has a small weight",
        low=1,
        high=1_000_000,
        paper="256 in the authors' program",
    )
    discount: float = parameter(0.99, "discount factor gamma", low=0, high=1, paper="0.99")
    target_tau: float = parameter(
        0.005,
        "step of target networks towards the learned ones",
        low=0,
        high=1,
        paper="none (the authors' program: 0.005)",
    )
    compensate: bool = parameter(
        True, "cancel gains and biases of the drives as the belief has them; without a belief nothing", paper="none"
    )
    anchor: float = parameter(
        0.0,
        "weight of the actor's mean square distance from the actions of the initial networks; 0: free",
        low=0,
        paper="0",
    )
    actor_average_tau: float = parameter(
        1.0,
        "step of the deterministic actor towards the learned one; below 1 it is a running average",
        low=1e-6,
        high=1,
        paper="none",
    )
    actor_period: int = parameter(
        2,
        "critic steps per step of actor, temperature and target networks, for all algorithms",
        low=1,
        high=1_000,
        paper="2 in the authors' program",
    )
    entropy_temperature: str = parameter(
        "auto",
        "entropy bonus: tuned to the target entropy, fixed at its initial value, or none",
        choices=("auto", "fixed", "none"),
        paper="none (the authors' program: auto)",
    )
    initial_temperature: float = parameter(
        1.0, "entropy temperature at the start", low=1e-8, high=1e3, paper="not named"
    )
    target_entropy_per_dim: float = parameter(
        -1.0, "target entropy per action dimension", low=-20, high=5, paper="-1 in the authors' program"
    )

    # Reward
    reward: str = parameter(
        "raw",
        "logarithm of the positive reward as in the theory, or the reward itself",
        choices=("log", "raw"),
        paper="log (OMPO-r: raw)",
    )
    reward_scale: float = parameter(
        1.0, "factor of the task's affine map to positive rewards", low=1e-9, high=1e9, paper="not named"
    )
    reward_shift: float = parameter(
        0.0, "shift of the task's affine map to positive rewards", low=-1e9, high=1e9, paper="1 in the authors' program"
    )
    reward_floor: float = parameter(
        1e-6, "least reward after the map, for the logarithm", low=1e-30, high=1e9, paper="1e-6 in the authors' program"
    )

    # OMPO's objective
    q: float = parameter(1.5, "order of the conjugate f*", low=1.0 + 1e-6, high=2.0, paper="1.5")
    alpha: float = parameter(0.001, "weight of the occupancy divergence", low=1e-9, high=1e3, paper="0.001")
    discrepancy: str = parameter(
        "bound",
        "sign of R: minus as in the paper, plus as in the lower bound, or no R",
        choices=("paper", "bound", "none"),
        paper="paper",
    )
    discrepancy_weight: float = parameter(0.001, "weight of R in the reward", low=0, high=1e3, paper="alpha = 0.001")
    discrepancy_bound: float = parameter(3.0, "R is clipped to plus and minus this", low=1e-6, high=1e3, paper="none")
    linear_part: bool = parameter(
        False, "keep f*'s linear part, which a semi-gradient cannot balance", paper="yes (the authors' program: no)"
    )
    initial_term: bool = parameter(True, "keep the objective's term of initial states", paper="yes")
    bootstrap: str = parameter(
        "target",
        "value beyond a transition: target critics without gradient, or the critics themselves as in the equations",
        choices=("target", "online"),
        paper="online (the authors' program: target)",
    )
    online_share: float = parameter(
        0.0, "share of the learned critics in a target bootstrap", low=0, high=1, paper="0.05 in the authors' program"
    )
    weight_max: float = parameter(
        1e6,
        "greatest density ratio w in the actor's step; the least is 0",
        low=1e-9,
        high=1e12,
        paper="1e6 in the authors' program",
    )

    # Discriminator
    gradient_penalty: float = parameter(
        0.0,
        "weight of the penalty on the logit's gradient norm; above 0, R is not a log ratio",
        low=0,
        high=1e6,
        paper="10 in the authors' program",
    )
    discriminator_steps: int = parameter(
        100, "mini-batches per round", low=1, high=100_000, paper="several (the authors' program: 200)"
    )

    # Baselines
    algaedice_q: float = parameter(
        1.5, "AlgaeDICE: order of f*, as in its program", low=1.0 + 1e-6, high=2.0, paper="not named"
    )
    algaedice_alpha: float = parameter(
        0.01, "AlgaeDICE: weight of the divergence, as in its program", low=1e-9, high=1e3, paper="not named"
    )
    exploration_noise: float = parameter(
        0.2,
        "TD3: deviation of the noise before the squash; the default is the shipped policy's",
        low=1e-6,
        high=2,
        paper="not named",
    )
    smoothing_noise: float = parameter(
        0.2, "TD3: deviation of the target policy's noise", low=0, high=2, paper="not named"
    )
    smoothing_clip: float = parameter(0.5, "TD3: limit of the target policy's noise", low=0, high=2, paper="not named")
    classifier_noise: float = parameter(
        1.0,
        "DARC, SAC_IW: deviation of the noise on the classifiers' standardized inputs",
        low=0,
        high=10,
        paper="not named",
    )
    classifier_warmup: int = parameter(
        500, "DARC, SAC_IW: updates before the classifiers are used", low=0, paper="not named"
    )

    # Running
    compile: bool = parameter(False, "compile the networks with torch.compile; eager if that fails", paper="not named")
    threads: int = parameter(
        0,
        "torch's threads; 0: one for a hidden_size up to 512, beyond that torch's default",
        low=0,
        high=4_096,
        paper="not named",
    )

    def __post_init__(self) -> None:
        check(self)
        if self.log_std_min >= self.log_std_max:
            raise InvalidParameter("log_std_min", f"{self.log_std_min} is not below log_std_max ({self.log_std_max})")
        if self.algorithm in ON_SOURCES and self.setting != "domain_adaptation":
            raise InvalidParameter(
                "setting", f"{self.algorithm} compares source and target: it needs domain_adaptation"
            )
        if self.round_period > 0 and self.merge == "round":
            raise InvalidParameter("round_period", "keeps in D_L what has joined D_G: it needs merge: immediate")
        if self.replay_temper > 0.0 and self.target_share >= 0.0:
            raise InvalidParameter("target_share", "cannot be combined with replay_temper; choose one")
        if self.algorithm in ON_SOURCES:
            self._refuse_shares()

    def _refuse_shares(self) -> None:
        """Refuse settings of sampling to an algorithm that learns from the sources' rows only."""
        changed = {
            "replay_temper": self.replay_temper > 0.0,
            "target_share": self.target_share >= 0.0,
            "demonstration_share": self.demonstration_share > 0.0,
        }
        for name in (name for name, is_changed in changed.items() if is_changed):
            raise InvalidParameter(name, f"{self.algorithm} learns from the sources' rows only: leave it as it is")

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> Config:
        """Make a config from values of a file or a parameter server; an unknown name is refused."""
        known = [known.name for known in parameters_of(cls)]
        for name in values:
            if name not in known:
                raise InvalidParameter(name, f"is not a setting; {meant(name, known)}")
        return cls(**values)  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Value]:
        return dataclasses.asdict(self)


AUTHORS = {
    "first_layer": "layernorm_tanh",
    "discrepancy": "paper",
    "discrepancy_bound": 16.0,
    "initial_batch_size": 256,
    "online_share": 0.05,
    "reward_shift": 1.0,
    "gradient_penalty": 10.0,
    "discriminator_steps": 200,
}
"""Settings of the authors' public program that differ from ours; docs/algorithm.md lists the other differences."""
