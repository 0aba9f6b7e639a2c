"""Mutated files and manifests: none loads unless it equals what was signed off, and none brings the process down."""

import json
import random

import pytest
from example_policies import REACH, make

from ompo_ros.policy.artifact import read_policy
from ompo_ros.policy.errors import RefusedPolicy
from ompo_ros.policy.manifest import Manifest
from ompo_ros.policy.runtime import PolicyRuntime

POLICIES = [make(1, architecture=architecture, hidden=4) for architecture in ("elu", "layernorm_tanh")]
AMOUNTS = [pytest.param(500, id="500"), pytest.param(10_000, id="10000", marks=pytest.mark.slow)]


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Flip, cut, repeat, insert or overwrite, once or a few times."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        at = rng.randrange(len(changed) + 1)
        length = rng.choice((1, 1, 2, 8, 64))
        kind = rng.randrange(5)
        if kind == 0 and at < len(changed):
            changed[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del changed[at : at + length]
        elif kind == 2:
            changed[at:at] = changed[at : at + length]
        elif kind == 3:
            changed[at:at] = rng.randbytes(length)
        else:
            changed[at : at + length] = rng.randbytes(length)
    return bytes(changed)


def test_the_mutations_do_mutate():
    rng = random.Random(0)
    assert sum(mutated(POLICIES[0].onnx, rng) != POLICIES[0].onnx for _ in range(100)) > 90


@pytest.mark.parametrize("amount", AMOUNTS)
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.manifest.architecture)
def test_no_mutated_file_passes_for_the_one_signed_off(policy, amount):
    rng = random.Random(1)
    for _ in range(amount):
        changed = mutated(policy.onnx, rng)
        if changed != policy.onnx:
            with pytest.raises(RefusedPolicy):
                PolicyRuntime(changed, REACH, sha256=policy.sha256)


@pytest.mark.parametrize("amount", AMOUNTS)
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.manifest.architecture)
def test_with_a_checksum_of_its_own_a_mutated_file_loads_only_as_a_well_formed_policy(policy, amount):
    """Only the manifest's free facts can differ: the graph is rebuilt from what was read and must be the same bytes."""
    rng = random.Random(2)
    for _ in range(amount):
        changed = mutated(policy.onnx, rng)
        try:
            read = read_policy(changed)
        except RefusedPolicy:
            continue
        assert {name: values.tobytes() for name, values in read.actor.tensors.items()} == {
            name: values.tobytes() for name, values in policy.actor.tensors.items()
        }
        assert read.manifest.weights_sha256 == policy.manifest.weights_sha256
        PolicyRuntime(changed, read.manifest.contract)


@pytest.mark.parametrize("amount", AMOUNTS)
def test_a_mutated_manifest_is_refused_or_safe_to_print(amount):
    policy, rng = POLICIES[0], random.Random(3)
    text = policy.manifest.to_json()
    for _ in range(amount):
        changed = mutated(text.encode(), rng).decode(errors="replace")
        try:
            manifest = Manifest.from_json(changed)
        except RefusedPolicy:
            continue
        assert manifest.to_json().isprintable()


VALUES = [None, True, -1, 0, 2**70, 1e999, float("nan"), "", "x", [], {}, [[]], {"a": 1}]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_every_field_refuses_what_is_not_its_type(value):
    """Each leaf and branch of the manifest in turn becomes `value`."""
    original = json.loads(POLICIES[0].manifest.to_json())
    for path, old in places(original):
        document = json.loads(json.dumps(original))
        parent = document
        for key in path[:-1]:
            parent = parent[key]
        parent[path[-1]] = value
        try:
            Manifest.from_json(json.dumps(document))
        except RefusedPolicy:
            continue
        fits = type(value) is type(old) or (type(old), type(value)) == (float, int)
        assert fits or (path, value) == (("evaluation",), None), (path, value)


def places(value, path=()):
    """Every place in a JSON document below its root, with what stands there."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield (*path, key), child
        yield from places(child, (*path, key))
