"""What a version does is kept, and what another does otherwise is named."""

import gzip
import json

import pytest

from adversary import freeze


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept") / "frozen"
    hashes = folder.parent / "hashes.txt"
    words = [str(folder), "--masking", "3", "--others", "1", "--only", "recipe d", "--hashes", str(hashes)]
    assert freeze.main(words) == 0
    return folder, hashes


def test_the_same_version_does_the_same(kept, capsys):
    folder, hashes = kept
    names = [line.rsplit(" ", 1)[0] for line in hashes.read_text().splitlines()]
    assert names == ["recipe defaults", "recipe disk"]
    assert freeze.main([str(folder), "--against"]) == 0
    assert "2 cases, 0 differ" in capsys.readouterr().out
    assert (folder / "recipe-disk.json.gz").exists()


def test_what_differs_is_named(kept, capsys):
    folder, _ = kept
    with gzip.open(folder / "kept.json.gz", "rt") as file:
        content = json.load(file)
    masked = next(key for key in content["recipe defaults"]["kept"] if key.endswith("_masked.csv"))
    content["recipe defaults"]["kept"][masked] = "other bytes"
    with gzip.open(folder / "kept.json.gz", "wt") as file:
        json.dump(content, file)
    assert freeze.main([str(folder), "--against", "--only", "recipe defaults"]) == 1
    assert f"DIFFERS recipe defaults: {masked}" in capsys.readouterr().out


def test_nothing_is_kept_in_the_repository():
    with pytest.raises(SystemExit):
        freeze.main([str(freeze.ROOT / "build" / "frozen")])
