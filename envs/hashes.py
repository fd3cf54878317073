"""Print requirements with the hashes of what pip would install: python hashes.py REPORT > hashes.txt.

REPORT is what ``pip install --dry-run --report`` wrote (``make hashes``).
"""

import json
import sys
from pathlib import Path

for package in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["install"]:
    name, version = (package["metadata"][key] for key in ("name", "version"))
    digest = package["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256")
    if digest is None:
        sys.exit(f"{name} {version}: the index in use gives no SHA-256 of it, so hashes cannot be required")
    print(f"{name}=={version} --hash=sha256:{digest}")
