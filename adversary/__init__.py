"""A campaign against microagg: what an adversary would try, over and over, from a seed: `python -m adversary NAME`."""
