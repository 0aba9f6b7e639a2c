"""Registers the worlds with gymnasium; a world's simulator is imported only when the world is made."""

from __future__ import annotations

from gymnasium.envs.registration import register, registry

NAMESPACE = "ompo"
_LENGTH_SHIFTS = ("Source", "Target", "Randomized", "NonStationary")
_MEDIUM_SHIFTS = (*_LENGTH_SHIFTS, "SevereNonStationary")
LOCOMOTION = {
    "Hopper": _LENGTH_SHIFTS,
    "Walker2d": _LENGTH_SHIFTS,
    "Ant": _MEDIUM_SHIFTS,
    "Humanoid": _MEDIUM_SHIFTS,
}
META_WORLD = (
    "coffee-push",
    "drawer-open",
    "door-unlock",
    "door-open",
    "hammer",
    "dial-turn",
    "hand-insert",
    "plate-slide",
)


def register_all() -> None:
    """Register every world; repeated calls do nothing."""
    for task in ("Reach", "Push"):
        for reward in ("Dense", "Sparse"):
            _register_panda(task, reward)
    for reward in ("Dense", "Sparse"):
        _register(
            f"PaperPandaReach{reward}-v0",
            entry_point="ompo_ros.sim.paper.panda:PaperPandaReach",
            kwargs={"reward": reward.lower()},
            max_episode_steps=50,
        )
    for robot, shifts in LOCOMOTION.items():
        for shift in shifts:
            _register(
                f"{robot}{shift}-v0",
                entry_point=f"ompo_ros.sim.paper.locomotion:Shifted{robot}",
                kwargs={"shift": shift},
                max_episode_steps=1000,
            )
    for task in META_WORLD:
        _register(
            "MetaWorld" + "".join(word.capitalize() for word in task.split("-")) + "-v0",
            entry_point="ompo_ros.sim.paper.metaworld:MetaWorldTask",
            kwargs={"task": task},
            max_episode_steps=500,
        )


def _register_panda(task: str, reward: str) -> None:
    arguments = {"task": task.lower(), "reward": reward.lower()}
    _register(
        f"Panda{task}{reward}-v0",
        entry_point="ompo_ros.sim.panda:PandaEnv",
        vector_entry_point="ompo_ros.sim.panda:PandaVectorEnv",
        kwargs=arguments,
    )
    _register(f"PandaGym{task}{reward}-v0", entry_point="ompo_ros.sim.panda_gym:PandaGymEnv", kwargs=arguments)


def _register(name: str, **options: object) -> None:
    if f"{NAMESPACE}/{name}" not in registry:
        register(f"{NAMESPACE}/{name}", **options)  # type: ignore[arg-type]
