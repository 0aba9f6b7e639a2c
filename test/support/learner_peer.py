"""Both collectors' side of a learner that runs as a process: what its tests share."""

import numpy as np
from builtin_interfaces.msg import Time
from graphs import PATIENT
from launch_ros.actions import Node as NodeAction
from ompo_msgs.msg import ActorWeights, LearnerStatus, TransitionBatch

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import transitions_to_msg
from ompo_ros.transitions import Origin, Transitions

SMALL = {"learning.threads": 1, "learning.hidden_size": 16, "learning.batch_size": 16, "learning.global_capacity": 5000}
PACE = {"warmup": 128, "source_ratio": 2.0, "update_to_data": 1.0, "target_steps": 64, "publish_period": 0.05}


def settings(run_dir, **changes) -> dict[str, object]:
    """A learner's parameters: small networks that learn within a second."""
    return {"run_dir": str(run_dir), "device": "cpu", "resume": True, **PACE, **SMALL, **changes}


def learner_action(run_dir, **parameters):
    return NodeAction(
        package="ompo_ros",
        executable="learner",
        parameters=[settings(run_dir, **parameters)],
        output="screen",
        cached_output=True,
        **PATIENT,
        respawn=not parameters,
        respawn_delay=0.1,
    )


def transitions(origin: Origin, n: int = 64, seed: int = 0) -> Transitions:
    rng = np.random.default_rng(seed)
    zeros = np.zeros(n, dtype=np.uint32)
    return Transitions(
        origin=origin,
        obs=rng.standard_normal((n, 20), dtype=np.float32),
        action=rng.uniform(-1, 1, (n, 7)).astype(np.float32),
        reward=-rng.random(n, dtype=np.float32),
        next_obs=rng.standard_normal((n, 20), dtype=np.float32),
        terminated=np.zeros(n, dtype=np.bool_),
        truncated=np.zeros(n, dtype=np.bool_),
        step=np.arange(n, dtype=np.uint32) % 8,
        policy_version=zeros,
        domain_id=zeros,
    )


class Collectors:
    """Both collectors' side of the learner's topics."""

    def __init__(self, probe) -> None:
        self.probe = probe
        self.sequence = dict.fromkeys(Origin, 0)
        self.status: list[LearnerStatus] = []
        self.actors: list[ActorWeights] = []
        node = probe.node
        self.publishers = {
            origin: node.create_publisher(TransitionBatch, f"{origin.name.lower()}/transitions", qos.TRANSITIONS)
            for origin in Origin
        }
        node.create_subscription(LearnerStatus, "status", self.status.append, qos.LATCHED)
        node.create_subscription(ActorWeights, "actor", self.actors.append, qos.LATCHED)

    def wait_for_learner(self) -> None:
        matched = lambda: all(p.get_subscription_count() == 1 for p in self.publishers.values())  # noqa: E731
        self.probe.spin_until(lambda: matched() and self.status)

    def send(self, stream: Origin, **changes) -> None:
        sequence = self.sequence[stream]
        self.sequence[stream] += 1
        msg = transitions_to_msg(
            transitions(stream, seed=sequence), collector_id=stream.name, session=1, sequence=sequence, stamp=Time()
        )
        for field, value in changes.items():
            setattr(msg, field, value)
        self.publishers[stream].publish(msg)

    def until(self, **fields) -> None:
        """Wait until the learner's status says all of this."""
        says = lambda: all(getattr(self.status[-1], name) == value for name, value in fields.items())  # noqa: E731
        self.probe.spin_until(says, hint=lambda: str(self.status[-1]))
