"""Which results of researchers survive masking, by every way."""
