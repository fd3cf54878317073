"""How a model reads and how large it is: all of it that is needed to count what scoring will cost."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from abovechance.core.errors import InputError
from abovechance.core.files import write_json
from abovechance.scoring.algorithms import takes_positions
from abovechance.scoring.demands import parameters, stored
from abovechance.scoring.engine import changing_positions
from abovechance.scoring.fetching import fetch_snapshot
from abovechance.scoring.inspection import check_sizes
from abovechance.scoring.masks import unknown_windows
from abovechance.scoring.weights import Weights


def expected_path(weights: Weights) -> Callable[[int], str]:
    """Return the path that a model will take for strings of so many tokens, as its class says.

    Scoring does not believe this, and tries (``algorithms.Paths``): a model may turn out to take a slower
    one.
    """
    from transformers import AutoConfig, AutoModelForCausalLM

    if weights.server:
        return lambda _longest: "tree"  # if the server has what strings share in its cache
    trust = weights.trust_remote_code
    check_sizes(Path(weights.folder, "config.json"))
    config = AutoConfig.from_pretrained(weights.folder, trust_remote_code=trust)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, trust_remote_code=trust)
    changes = changing_positions(model)
    is_tree = takes_positions(model) and not unknown_windows(model)
    fastest = "plain" if model._is_stateful else "tree" if is_tree else "batched"
    return lambda longest: "alone" if changes is not None and longest > changes else fastest


@dataclass(frozen=True)
class Reader:
    """A model without its weights.

    Attributes
    ----------
    weights
        Folder with its config and tokenizer; its tensors need not be there.
    parameters
        Number of parameters.
    stored
        Bytes of its tensors' files.
    """

    weights: Weights
    parameters: int
    stored: int

    @classmethod
    def from_weights(cls, weights: Weights) -> Reader:
        """That of a model whose weights are there, or on a server, which does not tell their size."""
        if weights.server:
            return cls(weights, 0, 0)
        folder = Path(weights.folder)
        return cls(weights, parameters(folder), stored(folder))

    @classmethod
    def from_hub(cls, repository: str, revision: str | None, trust_remote_code: bool) -> Reader:
        """That of a model on the Hugging Face hub: of its weights, only what the hub says of them is fetched.

        Raises
        ------
        InputError
            If the hub cannot be reached, or does not say it.
        """
        from huggingface_hub import HfApi, get_safetensors_metadata
        from huggingface_hub.errors import NotASafetensorsRepoError

        folder = fetch_snapshot(repository, revision, trust_remote_code, tensors=False)
        weights = Weights(str(folder), repository, folder.name, trust_remote_code=trust_remote_code)
        if any(folder.glob("*.safetensors")):  # fetched before
            return cls.from_weights(weights)
        try:
            counted = get_safetensors_metadata(repository, revision=folder.name).parameter_count
            files = HfApi().model_info(repository, revision=folder.name, files_metadata=True).siblings or []
        except (NotASafetensorsRepoError, OSError) as error:
            raise InputError(
                f"model '{repository}': the hub does not say how large its safetensors are ({error})"
            ) from None
        size = sum(file.size or 0 for file in files if file.rfilename.endswith(".safetensors"))
        return cls(weights, sum(counted.values()), size)

    @classmethod
    def read(cls, path: Path) -> Reader:
        """Read what ``write`` wrote."""
        settings = json.loads(path.read_text(encoding="utf-8"))
        return cls(Weights(**settings.pop("weights")), **settings)

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        write_json(asdict(self), path)
