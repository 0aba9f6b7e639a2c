"""A call over DDS whose answers are lost: made again, given up, or cancelled."""

import pytest
from probe import Probe
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.task import Future
from std_srvs.srv import Trigger

from ompo_ros.nodes.wire.repeated_call import RepeatedCall


class Server(Probe):
    """Answers from the second call on, with the number of the call."""

    def __init__(self) -> None:
        super().__init__()
        self.calls, self.answers_from = 0, 2
        group = ReentrantCallbackGroup()  # a call that is never answered keeps no other one waiting
        self.node.create_service(Trigger, "act", self._act, callback_group=group)
        self.client = self.node.create_client(Trigger, "act")

    async def _act(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.calls += 1
        if self.calls < self.answers_from:
            await Future()  # lost
        response.message = str(self.calls)
        return response

    def call(self, **options) -> Future:
        return RepeatedCall(self.node, self.client, Trigger.Request, **options).answer


@pytest.fixture
def server(ros_domain):
    server = Server()
    yield server
    server.close()


def test_a_lost_answer_is_asked_for_again(server):
    answer = server.call()
    server.spin_until(answer.done)
    assert (answer.result().message, server.calls) == ("2", 2)


def test_after_so_long_without_an_answer_there_is_none(server):
    server.answers_from = 9
    answer = server.call(patience=1.0)
    server.spin_until(answer.done)
    assert answer.result() is None


def test_a_service_that_is_not_there_is_waited_for(server):
    answer = RepeatedCall(server.node, server.node.create_client(Trigger, "late"), Trigger.Request).answer
    server.node.create_service(Trigger, "late", lambda _, response: response)
    server.spin_until(answer.done)
    assert answer.result() is not None


def test_a_cancelled_call_is_made_no_more(server):
    first = server.call()
    server.spin_until(lambda: server.calls)
    first.cancel()
    server.answers_from = 3
    second = server.call()
    server.spin_until(second.done)
    assert second.result().message == "3", "the first one was made again"
    assert first.result() is None
