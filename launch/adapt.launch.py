"""Adapts a policy to a robot while it moves: learner, sources, robot or stand-in, target side, or one role of them."""

from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.actions import LogInfo, OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnShutdown
from launch.launch_description_entity import LaunchDescriptionEntity

from ompo_ros.launching import view
from ompo_ros.launching.arguments import checked, declare, values_of
from ompo_ros.launching.files import chosen_target
from ompo_ros.launching.franka import forces_to_set
from ompo_ros.launching.nodes import Values, arguments_of, include, rehearse, stay_on_this_machine
from ompo_ros.launching.run_start import say_how_to_resume, start_of

ROLES = {"learner": ["learner", "recorder"], "source": ["sources"], "target": ["robot_sim", "target"]}
PARTS = [part for parts in ROLES.values() for part in parts]


def generate_launch_description() -> LaunchDescription:
    """Declare what the parts declare; which of them start is decided when the values are known."""
    given: set[str] = set()
    declared = [*declare("role", "resume", *view.ARGUMENTS, target_domain="auto"), *arguments_of(*PARTS)]
    return LaunchDescription(
        [
            OpaqueFunction(function=note_given, args=[given]),  # a declaration fills in its default
            *checked(__file__, declared),
            OpaqueFunction(function=start, args=[given]),
        ]
    )


def note_given(context: LaunchContext, given: set[str]) -> None:
    """Note which arguments the user gave, so that a resumed run knows them from defaults."""
    given.update(values_of(context))


def parts_of(values: Values) -> list[str]:
    """The launch files of this machine's role."""
    return ROLES.get(values["role"], PARTS)


def rehearse_parts(values: Values) -> None:
    """Let each part make its nodes before any part starts."""
    rehearse((Path(__file__).with_name(f"{part}.launch.py") for part in parts_of(values)), values)


def start(context: LaunchContext, given: set[str]) -> list[LaunchDescriptionEntity]:
    """Start this machine's part of a new run or of one that goes on; nothing where the run is finished already."""
    values = values_of(context)
    run = start_of({**values, "target": chosen_target(values)}, given, rehearse_parts)
    if run.report:
        return [LogInfo(msg=run.report)]
    values = run.values
    on_this_machine = values["role"] == "all" and values["target"] != "real"
    return [
        *(stay_on_this_machine() if on_this_machine else []),
        *(LogInfo(msg=line) for line in run.lines),
        *(LogInfo(msg=line) for line in forces_to_set(values)),
        LogInfo(msg=f"adapting to {values['target']} by {values['algorithm']}, run in {values['run_dir']}"),
        *([] if values["role"] == "all" else [LogInfo(msg=f"run_id {values['run_id'] or '(none)'}")]),
        RegisterEventHandler(OnShutdown(on_shutdown=lambda event, _: say_how_to_resume(event, values))),
        *(include(part, values) for part in parts_of(values)),
        *view.page(values),
    ]
