import pytest
from example_policies import make, make_tensors


@pytest.fixture(params=["elu", "layernorm_tanh"])
def tensors(request):
    return make_tensors(request.param)


@pytest.fixture(scope="session")
def policy():
    return make()
