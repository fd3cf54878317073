"""Whether a folder is a Workflow Run RO-Crate, in the validator's own environment and without a network.

    python crate_is_valid.py FOLDER CONTEXT

The one address that the validator asks is answered from CONTEXT, a JSON-LD context of RO-Crate 1.3 (the
package rocrate has one), with the terms that had other addresses in 1.1, which archives are written in.
"""

import io
import json
import sys
import tempfile
from pathlib import Path

import requests
from requests_cache import CachedResponse, CachedSession
from rocrate_validator import models, services
from urllib3.response import HTTPResponse

ASKED = "https://w3id.org/ro/crate/1.1/context"
IN_1_1 = {
    "ComputationalWorkflow": "https://bioschemas.org/ComputationalWorkflow",
    "FormalParameter": "https://bioschemas.org/FormalParameter",
    "input": "https://bioschemas.org/ComputationalWorkflow#input",
    "output": "https://bioschemas.org/ComputationalWorkflow#output",
}


def keep(context: Path, cache: str) -> None:
    """Put the context into the validator's cache of what it has asked."""
    content = json.loads(context.read_text())
    content["@context"].update(IN_1_1)
    body, headers = json.dumps(content).encode(), {"Content-Type": "application/ld+json"}
    answer = requests.Response()
    answer.status_code, answer.url, answer._content = 200, ASKED, body
    answer.headers.update(headers)
    answer.request = requests.Request("GET", ASKED).prepare()
    answer.raw = HTTPResponse(io.BytesIO(body), headers, 200, preload_content=False, request_url=ASKED)
    session = CachedSession(cache)
    key = session.cache.create_key(answer.request)
    session.cache.save_response(CachedResponse.from_response(answer), cache_key=key)


def main(folder: str, context: str) -> None:
    """Print what is wrong with the crate; exit status 1 where something is."""
    with tempfile.TemporaryDirectory() as place:
        keep(Path(context), f"{place}/cache")
        result = services.validate(
            services.ValidationSettings(
                rocrate_uri=folder,
                profile_identifier="workflow-run-crate",
                requirement_severity=models.Severity.REQUIRED,
                cache_path=f"{place}/cache",
                offline=True,
            )
        )
    for issue in result.get_issues():
        print(issue.message)
    sys.exit(0 if result.passed() else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
