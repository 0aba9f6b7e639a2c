"""`ompo policy`: look into a policy's file, prove it, time it; list and move the policies of a server or a folder.

Exit codes: 0 done, 1 the policy or the request is refused, 2 wrong usage, 3 no server answers.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import onnx

from ompo_ros.cli.exits import DONE, warn
from ompo_ros.cli.policy_store import FolderStore, PolicyStore
from ompo_ros.cli.tables import print_table
from ompo_ros.policy.artifact import CheckedPolicy, policy_bytes, read_policy
from ompo_ros.policy.graph import check_parity, random_observations
from ompo_ros.policy.records import plain
from ompo_ros.policy.registry_state import CHANNELS, STABLE
from ompo_ros.policy.runtime import PolicyRuntime


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `policy` and its verbs to the `ompo` command."""
    verbs = commands.add_parser("policy", help="policies: files, registries, servers").add_subparsers(required=True)

    inspect = verbs.add_parser("inspect", help="show what a policy's file says about itself")
    inspect.add_argument("file", type=Path)
    inspect.add_argument("--json", action="store_true", help="the manifest as JSON")
    inspect.set_defaults(run=_inspect)

    verify = verbs.add_parser("verify", help="check a policy's file from the first to the last byte")
    verify.add_argument("file", type=Path)
    verify.add_argument("--sha256", help="the checksum it must have")
    verify.set_defaults(run=_verify)

    bench = verbs.add_parser("bench", help="time one action on this machine")
    bench.add_argument("file", type=Path)
    bench.add_argument("--actions", type=int, default=5_000)
    bench.set_defaults(run=_bench)

    listing = verbs.add_parser("list", help="list the policies of a running server, or of a folder")
    listing.set_defaults(run=_list)
    activate = verbs.add_parser("activate", help="move a channel to a policy")
    activate.add_argument("version", type=_version, help="a listed version, or `previous`")
    activate.add_argument("--channel", choices=CHANNELS, default=STABLE)
    activate.add_argument("--pin", action="store_true", help="hold it there until the next activate")
    activate.add_argument("--reason", default="asked for on the command line", help="for the log")
    activate.set_defaults(run=_activate)
    for verb in (listing, activate):
        place = verb.add_mutually_exclusive_group()
        place.add_argument("--registry", type=Path, help="a registry's folder that no server uses")
        place.add_argument("--namespace", default="/ompo", help="of the running server (default: /ompo)")


def _inspect(arguments: argparse.Namespace) -> int:
    policy = _read(arguments.file)
    if arguments.json:
        print(policy.manifest.to_json())
        return DONE
    manifest, contract = policy.manifest, policy.manifest.contract
    evaluation = manifest.evaluation
    normalizer = manifest.normalizer
    print_table(
        [
            ("policy", f"{manifest.version}, SHA-256 {policy.sha256}"),
            ("made", f"{_date(manifest.stamp)} after {manifest.training.updates} updates"),
            ("target steps", str(manifest.training.target_steps)),
            ("task, robot", f"{contract.task}, {contract.robot}, frame {contract.frame}"),
            ("joints", " ".join(contract.joint_names)),
            ("control rate", f"{contract.control_rate:g} Hz"),
            ("network", f"{manifest.architecture}, {manifest.hidden} wide, opset {manifest.software['opset']}"),
            ("parity error", f"{manifest.parity.max_error:.1e}"),
            ("evaluation", f"{evaluation.successes}/{evaluation.episodes} succeed" if evaluation else "none yet"),
            ("software", ", ".join(f"{name} {version}" for name, version in manifest.software.items())),
        ]
    )
    print()
    signals = enumerate(zip(contract.observation, normalizer.mean, normalizer.scale, strict=True))
    rows = [(f"obs[{i}]", s.name, s.unit, f"{mean:.4g}", f"{scale:.4g}", s.source) for i, (s, mean, scale) in signals]
    print_table([("entry", "name", "unit", "mean", "1/deviation", "source"), *rows])
    print()
    limit = f"±{contract.action_limit:g}"
    rows = [(f"action[{i}]", s.name, s.unit, f"{s.scale:g}", limit, s.source) for i, s in enumerate(contract.action)]
    print_table([("entry", "name", "unit", "scale", "limit", "meaning"), *rows])
    return DONE


def _verify(arguments: argparse.Namespace) -> int:
    policy = _read(arguments.file, arguments.sha256)
    checksum = "as demanded" if arguments.sha256 else "not compared, give --sha256"
    onnx.checker.check_model(onnx.load_from_string(policy.onnx), full_check=True)
    none = np.empty((0, policy.manifest.contract.observation_size), np.float32)
    parity = check_parity(policy.onnx, policy.actor, none, np.random.default_rng())
    print_table(
        [
            ("file", f"{arguments.file}, {len(policy.onnx)} bytes"),
            ("SHA-256", f"{policy.sha256}, {checksum}"),
            ("graph, weights, manifest", "agree, and are what this release exports"),
            ("onnx.checker", "passed"),
            ("parity", f"{parity.max_error:.1e} on {parity.random_observations} new random observations"),
        ]
    )
    return DONE


def _bench(arguments: argparse.Namespace) -> int:
    policy = _read(arguments.file)
    runtime = PolicyRuntime(policy, policy.manifest.contract)
    rows = random_observations(policy.actor, np.random.default_rng(0))
    times = []
    for i in range(max(1, arguments.actions)):
        started = time.perf_counter_ns()
        runtime.act(rows[i % len(rows)])
        times.append(time.perf_counter_ns() - started)
    p50, p99, worst = np.percentile(times, [50, 99, 100]) / 1e3
    print_table([("actions", "p50", "p99", "worst"), (str(len(times)), *(f"{t:.1f} us" for t in (p50, p99, worst)))])
    return DONE


def _list(arguments: argparse.Namespace) -> int:
    store = _store(arguments)
    rows = [
        (
            str(row.version),
            _date(row.stamp),
            " ".join(row.channels) + (" (held)" if row.pinned else ""),
            "" if row.success_rate is None else f"{row.success_rate:.0%} of {row.episodes}",
            row.sha256[:12],
            row.note,
        )
        for row in store.listing()
    ]
    for warning in store.warnings:
        warn(warning)
    print_table([("version", "registered", "channels", "success", "SHA-256", "note"), *rows])
    return DONE


def _activate(arguments: argparse.Namespace) -> int:
    store = _store(arguments)
    print(plain(store.activate(arguments.channel, arguments.version, arguments.reason, pin=arguments.pin)))
    for warning in store.warnings:
        warn(warning)
    return DONE


def _store(arguments: argparse.Namespace) -> PolicyStore:
    if arguments.registry is not None:
        return FolderStore(arguments.registry)
    try:
        from ompo_ros.nodes.wire.policy_client import ServerStore
    except ImportError as error:
        raise ConnectionError(f"no ROS 2 here to reach a server ({error}): give a folder by --registry") from error
    return ServerStore(arguments.namespace)


def _read(path: Path, sha256: str | None = None) -> CheckedPolicy:
    return read_policy(policy_bytes(path), sha256=sha256)


def _version(text: str) -> int:
    if text == "previous":
        return 0
    if not text.isdecimal() or not 0 < int(text) < 2**32:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a version, 1 or more, nor `previous`")
    return int(text)


def _date(stamp: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(stamp))
