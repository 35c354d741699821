"""Files that were cut off, flipped or mixed up on their way."""

from adversary.values import Random, one_of


def damaged(rng: Random, content: bytes) -> bytes:
    """Damage a file, at few places."""
    if not content:
        return one_of(rng, [b"", b"\x00", b"\n"])
    at = int(rng.integers(len(content)))
    way = one_of(rng, ["cut", "flip", "flips", "insert", "double", "zeros", "random", "none", "none"])
    if way == "cut":
        return content[:at]
    if way in ("flip", "flips"):
        changed = bytearray(content)
        for place in rng.integers(0, len(content), 1 if way == "flip" else 12):
            changed[place] ^= 1 << int(rng.integers(8))
        return bytes(changed)
    if way == "insert":
        return content[:at] + rng.bytes(4) + content[at:]
    if way == "double":
        return content[:at] + content
    if way == "zeros":
        return content[:at] + b"\x00" * 8 + content[at + 8 :]
    return rng.bytes(200) if way == "random" else content
