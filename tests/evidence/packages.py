"""Packages taken apart, and put together as somebody might who wants to harm or deceive."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

MANIFEST = "manifest.json"


def read_files(package: Path) -> dict[str, bytes]:
    with ZipFile(package) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def read_part(package: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in read_files(package)[name].splitlines()]


def write_files(package: Path, files: Mapping[str, bytes]) -> Path:
    with ZipFile(package, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return package


def write_with_manifest(package: Path, files: Mapping[str, bytes]) -> Path:
    """Write the files with a manifest that tells of them as they are."""
    manifest = json.loads(files[MANIFEST])
    for told in manifest["files"]:
        content = files[told["name"]]
        told["size"], told["count"] = len(content), content.count(b"\n")
        told["sha256"] = hashlib.sha256(content).hexdigest()
    return write_files(package, {**files, MANIFEST: json.dumps(manifest).encode()})
