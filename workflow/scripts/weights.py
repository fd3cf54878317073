"""Bring a model's weights to this machine."""

from pathlib import Path

from script_log import logged, progress

from abovechance.core.files import alone
from abovechance.scoring.fetching import fetch, fetch_tokenizer
from abovechance.scoring.inspection import check_weights
from abovechance.scoring.weights import load_tokenizer
from abovechance.study.downloads import check_sha256

with logged(snakemake, network=True) as log:
    progress(log)(f"preparing the weights {snakemake.wildcards.weights}")
    output, source = Path(snakemake.output.weights[0]), snakemake.params.source
    # where weights are not kept, all that is fetched goes into a folder that will be deleted
    weight_files = snakemake.output.get("files")
    folder = Path(weight_files[0]) if weight_files else output.parent
    downloaded = Path(snakemake.input[0]) if "download" in source else None
    if downloaded:
        check_sha256(downloaded, snakemake.params.pinned)
    with alone(output.parent, progress(log)):
        if "server" in source:
            weights = fetch_tokenizer(source["server"], folder)
            load_tokenizer(weights)
        else:
            weights = fetch(source, downloaded, folder, passing=bool(weight_files))
            check_weights(weights)
        folder.mkdir(exist_ok=True)
        weights.write(output)
