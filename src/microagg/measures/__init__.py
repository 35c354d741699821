"""The measures that judge a release."""
