"""What everything stands on, and knows nothing of data."""
