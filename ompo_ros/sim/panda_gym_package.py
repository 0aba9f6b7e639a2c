"""The only import of panda-gym, which is not available for every Python version."""

from __future__ import annotations

try:
    import panda_gym.envs as panda_gym_envs
except ImportError as error:
    raise ImportError(
        "panda-gym or its simulator PyBullet is not installed. PyBullet has wheels for Python 3.10 and 3.11: with one "
        "of these run `pip install panda-gym`; with a newer Python take a MuJoCo target instead, such as "
        "gymnasium.make('ompo/PandaReachDense-v0', domain='hidden')."
    ) from error

__all__ = ["panda_gym_envs"]
