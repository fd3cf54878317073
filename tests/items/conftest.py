"""One thread for each process: threads of several that wait for one another take ten times as long."""

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch, threadpool_limits(1):
        patch.setenv("OMP_NUM_THREADS", "1")  # for what is imported in a test
        yield
