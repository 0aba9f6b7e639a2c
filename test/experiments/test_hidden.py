"""No method knows more of the target than an arm's topics say."""

import gc
import itertools
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

import numpy as np
import pytest

from ompo_ros.control.collector import Collector
from ompo_ros.experiments.rehearse import Rig, Sources, rehearse
from ompo_ros.learning import Config, make_agent
from ompo_ros.learning.pacing import Pacing
from ompo_ros.sim.belief import Belief
from ompo_ros.sim.panda import PandaVectorEnv
from ompo_ros.sim.stand_in import make_stand_in
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import Origin

SMALL = {"algorithm": "ompo", "hidden_size": 16, "batch_size": 32, "local_capacity": 50, "global_capacity": 2000}
SHARED = (ModuleType, type)  # all of the process hangs together by them


def referents(each):
    """What an object holds: of a function what it was given, not the globals of its module."""
    if isinstance(each, FunctionType):
        return [each.__closure__, each.__defaults__, each.__kwdefaults__, each.__dict__]
    if isinstance(each, MethodType | BuiltinFunctionType):
        return [each.__self__, getattr(each, "__func__", None)]
    return gc.get_referents(each)


def reachable(*roots):
    """Identities of all objects that the roots hold, directly or through others, methods and closures too."""
    seen, waiting = {}, list(roots)
    while waiting:
        each = waiting.pop()
        if id(each) not in seen and not isinstance(each, SHARED):
            seen[id(each)] = each  # kept, so that no other one gets its identity
            waiting += referents(each)
    return set(seen)


class Holder:
    def __init__(self, secret):
        self.secret = secret

    def method(self):
        return self.secret


def closure_over(secret):
    return lambda: secret


def default_of(secret):
    return lambda given=secret: given


def keyword_of(secret):
    return lambda *, given=secret: given


def written_on(secret):
    function = lambda: None  # noqa: E731
    function.note = secret
    return function


@pytest.mark.parametrize(
    "hide",
    [
        lambda secret: Holder(secret).method,
        closure_over,
        default_of,
        keyword_of,
        written_on,
        lambda secret: partial(print, secret),
        lambda secret: partial(print, end=secret),
        lambda secret: [secret].append,
        lambda secret: itertools.chain([secret]),
    ],
    ids=["method", "closure", "default", "keyword", "attribute", "partial", "its keyword", "built-in", "iterator"],
)
def test_the_search_finds_what_code_holds(hide):
    secret = object()
    assert id(secret) in reachable({"way": [hide(secret)]})


def test_only_joint_states_commands_goals_and_rewards_reach_learner_and_belief():
    task, robot = Task("reach", "dense"), load_robot("panda")
    arm = make_stand_in("mujoco", "creeping", task, robot, seed=0, command_timeout=0.5)
    collector = Collector(robot, task, seed=0)
    rig, agent = Rig(arm, collector), make_agent(Config(**SMALL), 20, 7, 0, "cpu")
    belief = Belief(task, "randomized", 0)
    sources = Sources(PandaVectorEnv(4, "reach", "dense", "randomized", threads=1), 0, belief)
    told, measured = [], []
    observe, learn, advance = agent.observe, belief.observe, arm.advance
    agent.observe = lambda transitions: (told.append(transitions), observe(transitions))
    belief.observe = lambda transitions: (told.append(transitions), learn(transitions))

    def advancing(seconds):
        measured.append(advance(seconds))
        return measured[-1]

    arm.advance = advancing
    assert list(rehearse(rig, agent, sources, Pacing(50, 1.0, 0.1, 50))) == [50]

    of_target = [transitions for transitions in told if transitions.origin is Origin.TARGET]
    assert len(of_target) == 2  # the learner's and the belief's
    states = {np.float32(each.position).tobytes() for each in measured}
    for transitions in of_target:
        assert {row.tobytes() for row in transitions.next_obs[:, :7].copy()} <= states
        assert (transitions.domain_id == 0).all()  # of an arm nobody knows more
        np.testing.assert_array_equal(transitions.reward, task.rewards(transitions.next_obs))
    del agent.observe, belief.observe
    held = reachable(agent, sources)
    assert id(belief) in held
    assert not {id(arm), id(arm._world), id(arm._world.values), id(arm._world.domain)} & held
