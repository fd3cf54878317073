"""Models and tensors of these tests are on the GPU, where there is one."""

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(scope="module", autouse=True)
def default_device(request: pytest.FixtureRequest) -> Iterator[None]:
    """The device of all tensors for which a test names none: the ``DEVICE`` of its module, else the GPU."""
    if torch.cuda.is_available():
        with getattr(request.module, "DEVICE", torch.device("cuda")):
            yield
    else:
        yield
