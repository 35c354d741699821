"""What is found of a release, as plain values: all that a report, an app or a program needs to speak of it."""

from microagg.judge.judgement import Judgement, judge

__all__ = ["Judgement", "judge"]
