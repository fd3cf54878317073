"""The type in which a processor multiplies 16-bit weights: measured once per machine and kept.

A processor with matrix instructions for a 16-bit type (AVX512-BF16, AMX) need not be faster with them than
with float32. So both ways are measured with the model's own shapes. Their scores differ by rounding, so the
decision is kept in the user's cache folder, where all jobs of the machine find it.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn

from abovechance.core.files import alone, write_text
from abovechance.core.provenance import digest

MEASURED, NATIVE, WIDE = "measured", "native", "float32"  # values of the config's key scoring.products
MARGIN = 1.25  # how many times faster the other way must be to take the place of the usual one
ROWS = 256  # of a product that is measured: about those of a pack of tokens
SHAPES = 3  # of a model's products, those with the most work
REPEATS, SECONDS = 9, 3.0  # of measurements, of which the fastest counts


class Decision(NamedTuple):
    """How a model's products are taken.

    Attributes
    ----------
    way
        ``NATIVE``, in the model's own type, or ``WIDE``, in float32 and rounded.
    by
        What decided: ``hand``, ``measurement``, the processor's ``flags``, or ``type`` if there is no choice.
    """

    way: str
    by: str


class WideLinear(nn.Module):
    """A linear layer of a 16-bit type whose product is taken in float32 and rounded once.

    That is what 16-bit matrix instructions do: they accumulate in float32. On processors without fast ones,
    this is several times faster than emulating them.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        # Not named `weight`: a model that ties its weights again would put its own there.
        self.wide = nn.Parameter(linear.weight.detach().float(), requires_grad=False)
        self.bias = None if linear.bias is None else nn.Parameter(linear.bias.detach().float(), False)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return nn.functional.linear(inputs.float(), self.wide, self.bias).to(inputs.dtype)


def widen(model: nn.Module) -> None:
    """Replace a model's linear layers by ``WideLinear`` ones, in place."""
    for name, module in list(model.named_modules()):
        if type(module) is nn.Linear:
            parent, _, child = name.rpartition(".")
            setattr(model.get_submodule(parent), child, WideLinear(module))


def decide(
    model: nn.Module, dtype: torch.dtype, products: str = MEASURED, folder: Path | None = None
) -> Decision:
    """Return how the products of a model on the processor are taken.

    Parameters
    ----------
    model
        With linear layers of the type ``dtype``.
    products
        ``MEASURED``, or ``NATIVE`` or ``WIDE`` if the user chose.
    folder
        Where decisions are kept; ``cache_folder()`` if None. If it cannot be written, nothing is measured,
        because another job could decide otherwise: the processor's flags decide.
    """
    if dtype == torch.float32:
        return Decision(NATIVE, "type")
    if products != MEASURED:
        return Decision(products, "hand")
    usual = NATIVE if supports(dtype) else WIDE
    shapes = Counter(
        (module.in_features, module.out_features)
        for module in model.modules()
        if type(module) is nn.Linear and module.weight.dtype == dtype
    )
    if not shapes:
        return Decision(usual, "flags")
    facts = {"machine": machine(), "type": str(dtype), "threads": torch.get_num_threads()}
    facts |= {"torch": torch.__version__, "shapes": sorted(map(list, shapes)), "usual": usual}
    facts |= {"instructions": torch.backends.cpu.get_cpu_capability()}
    folder = cache_folder() if folder is None else folder
    path = folder / f"{digest(json.dumps(facts))}.json"
    try:
        with alone(folder, lambda _: None):
            if not path.is_file():
                seconds = measure(shapes, dtype)
                decision = {"way": faster(seconds, usual), "seconds": seconds, **facts}
                write_text(json.dumps(decision, indent=1) + "\n", path)
            way = json.loads(path.read_text(encoding="utf-8")).get("way")
    except (OSError, ValueError, AttributeError):
        return Decision(usual, "flags")
    return Decision(way, "measurement") if way in (NATIVE, WIDE) else Decision(usual, "flags")


def faster(seconds: Mapping[str, float], usual: str) -> str:
    """Return the way that takes less time; the usual one unless the other is ``MARGIN`` times faster."""
    alternative = WIDE if usual == NATIVE else NATIVE
    return alternative if seconds[alternative] * MARGIN < seconds[usual] else usual


def measure(shapes: Mapping[tuple[int, int], int], dtype: torch.dtype) -> dict[str, float]:
    """Return the seconds of one product of each of a model's largest shapes, times their number, both ways.

    Parameters
    ----------
    shapes
        {(inputs, outputs): how many layers have it}.
    """
    work = sorted(shapes, key=lambda shape: -shape[0] * shape[1] * shapes[shape])[:SHAPES]
    total = {NATIVE: 0.0, WIDE: 0.0}
    generator = torch.Generator().manual_seed(0)
    with torch.inference_mode():
        for width, height in work:
            linear = nn.Linear(width, height, bias=False, dtype=dtype)
            inputs = torch.randn(ROWS, width, generator=generator).to(dtype)
            ways: dict[str, nn.Module] = {NATIVE: linear, WIDE: WideLinear(linear)}
            fastest = _fastest(
                {way: _product(layer, inputs) for way, layer in ways.items()}, SECONDS / len(work)
            )
            for way, seconds in fastest.items():
                total[way] += seconds * shapes[width, height]
    return total


def _product(layer: nn.Module, inputs: torch.Tensor) -> Callable[[], object]:
    return lambda: layer(inputs)


def _fastest(runs: Mapping[str, Callable[[], object]], limit: float) -> dict[str, float]:
    """Return the least seconds of each run, in turns so that what else the machine does slows all of them."""
    for run in runs.values():
        run()
    seconds = dict.fromkeys(runs, float("inf"))
    begin = time.perf_counter()
    for repeat in range(REPEATS):
        if repeat > 2 and time.perf_counter() - begin > limit:
            break
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return seconds


def supports(dtype: torch.dtype) -> bool:
    """Return whether the processor says that it has matrix instructions for a type."""
    if not torch.backends.mkldnn.is_available():
        return False
    supported = {
        torch.bfloat16: torch.ops.mkldnn._is_mkldnn_bf16_supported,
        torch.float16: torch.ops.mkldnn._is_mkldnn_fp16_supported,
    }
    return bool(supported[dtype]())


def cache_folder() -> Path:
    """Return the folder of the user's cache in which decisions are kept."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "abovechance" / "products"


@cache
def machine() -> str:
    """Return the processor's name and a digest of its features, by which a machine is known again."""
    listed = Path("/proc/cpuinfo")
    lines = listed.read_text(encoding="utf-8", errors="replace").splitlines() if listed.is_file() else []
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        fields.setdefault(name.strip(), value.strip())
    name = fields.get("model name") or platform.processor() or platform.machine()
    features = (fields.get(key, "") for key in ("cpu family", "model", "stepping", "flags", "Features"))
    return f"{name} {digest(platform.machine(), *features)}"
