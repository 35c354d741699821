"""What l-diversity and t-closeness cost, by every way."""
