"""No method knows more of the target than an arm's topics say."""

import gc
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

import numpy as np

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
CODE = (ModuleType, type, FunctionType, BuiltinFunctionType, MethodType)


def reachable(*roots):
    """Identities of all objects that the roots hold, directly or through others; code is not followed."""
    seen, waiting = set(), list(roots)
    while waiting:
        each = waiting.pop()
        if id(each) not in seen and not isinstance(each, CODE):
            seen.add(id(each))
            waiting += gc.get_referents(each)
    return seen


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
