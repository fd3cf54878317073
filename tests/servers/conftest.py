"""A server of the tiny model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.served import Served, running
from tests.tiny import save_tiny_model


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model's."""
    return save_tiny_model(tmp_path_factory.mktemp("served") / "tiny", max_position_embeddings=4096)


@pytest.fixture(scope="session")
def one_server(folder: Path) -> Iterator[Served]:
    with running(folder) as served:
        yield served


@pytest.fixture
def server(one_server: Served) -> Served:
    """A server without defects."""
    one_server.reset()
    return one_server
