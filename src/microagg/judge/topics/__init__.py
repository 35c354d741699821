"""What is found of a release and said of it: a file for each thing; those that are a `Topic` have a line here."""

from typing import Any

from microagg.judge.topics.moments import MOMENTS
from microagg.judge.topics.sample import SAMPLE
from microagg.judge.topics.topic import Topic

TOPICS: list[Topic[Any]] = [MOMENTS, SAMPLE]
"""In the order in which the report has them."""
