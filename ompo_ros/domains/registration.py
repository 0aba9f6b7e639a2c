"""Names under which gymnasium knows the worlds; each one's simulator is imported when the world is made."""

from __future__ import annotations

from gymnasium.envs.registration import register, registry

NAMESPACE = "ompo"


def register_all() -> None:
    """Register every world once, however often it is called."""
    for task in ("Reach", "Push"):
        for reward in ("Dense", "Sparse"):
            _register_panda(task, reward)
    for reward in ("Dense", "Sparse"):
        _register(
            f"PaperPandaReach{reward}-v0",
            entry_point="ompo_ros.domains.paper_panda:PaperPandaReach",
            kwargs={"reward": reward.lower()},
            max_episode_steps=50,
        )


def _register_panda(task: str, reward: str) -> None:
    arguments = {"task": task.lower(), "reward": reward.lower()}
    _register(
        f"Panda{task}{reward}-v0",
        entry_point="ompo_ros.domains.panda:PandaEnv",
        vector_entry_point="ompo_ros.domains.panda:PandaVectorEnv",
        kwargs=arguments,
    )
    _register(
        f"PandaGym{task}{reward}-v0", entry_point="ompo_ros.domains.panda_gym_target:PandaGymEnv", kwargs=arguments
    )


def _register(name: str, **options: object) -> None:
    if f"{NAMESPACE}/{name}" not in registry:
        register(f"{NAMESPACE}/{name}", **options)  # type: ignore[arg-type]
