"""No figure stays open for the tests that come after."""

import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def figures_closed():
    plt.close("all")
    yield
    plt.close("all")
