"""Analysis: what a user of the file would compute."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from microagg.checks import check_names, check_option, nearest
from microagg.errors import InvalidParameter, a_type
from microagg.measures.analyses.definition import AnalysisKind, Option


@dataclass(frozen=True, init=False)
class Analysis:
    """One analysis that a user of a file would do: a mean, a Gini coefficient, a regression.

    Parameters
    ----------
    kind : str
        "mean", "total", "share", "quantile", "ratio", "gini", "poverty", "table", "linear", "logistic" or "loglinear".
    columns : name or list of names
        What it is of. A regression has the response first, then what explains it: numbers unchanged, "age^2",
        "log(income + 1)", and categories as dummies against the commonest one. Of a ratio, the numerator is first.
    by : name or list of names
        The domains: one estimate for each combination of values.
    weight : name, optional
    unit : name, optional
        Whose rows depend on each other, such as a household: intervals are then clustered by it.
    name : str, optional
        What it is called; by default its kind and columns in words.
    **options
        Those of its kind: `p` of a quantile, one or several; `fraction` of the median in a poverty rate; `value` of a
        share, a category or a condition such as "= 0"; `value` of a logistic regression, the category or condition that
        counts as 1; `formula` of a regression, in place of columns, such as "log(wage) ~ age + age^2 + sex".

    Examples
    --------
    >>> import microagg as ma
    >>> ma.Analysis("poverty", "income", by=["sex", "region"], weight="w")
    Analysis('poverty', ['income'], by=['sex', 'region'], weight='w')
    >>> ma.Analysis("quantile", "income", p=[0.1, 0.9]).name
    'Quantile of income'
    """

    kind: str
    columns: tuple[Any, ...]
    by: tuple[Any, ...]
    weight: Any
    unit: Any
    name: str
    options: tuple[tuple[str, Any], ...]
    read_from: ClassVar[Any] = None  # the table of a recipe that says it

    def __init__(
        self,
        kind: str,
        columns: Any = (),
        *,
        by: Any = (),
        weight: Any = None,
        unit: Any = None,
        name: str = "",
        **options: Any,
    ) -> None:
        from microagg.measures.analyses.kinds import ANALYSES

        check_option("kind", kind, ANALYSES)
        own = ANALYSES[kind]
        say = object.__setattr__
        say(self, "kind", kind)
        say(self, "columns", tuple(check_names(columns)))
        say(self, "by", tuple(check_names(by)))
        say(self, "weight", weight)
        say(self, "unit", unit)
        say(self, "options", _checked(own, options))
        _check_columns(own, self)
        domains = f" by {listed(self.by)}" if self.by else ""
        say(self, "name", name or f"{own.titled(self)}{domains}")

    @classmethod
    def of(cls, said: Any) -> "Analysis":
        """Return an analysis that is one already, or that a mapping says, as a table of a recipe does."""
        if isinstance(said, cls):
            return said
        if not isinstance(said, Mapping):
            raise InvalidParameter(
                f"an analysis is {a_type(said)}. Pass Analysis(kind, columns), or a mapping that has both.",
                parameter="analyses",
            )
        if "kind" not in said:
            raise InvalidParameter("an analysis has no kind. Say one, such as kind = 'mean'.", parameter="kind")
        return cls(**said)

    def option(self, name: str) -> Any:
        """Return an option, its default where nothing was said."""
        return dict(self.options)[name]

    @property
    def definition(self) -> AnalysisKind:
        """How it is computed and said."""
        from microagg.measures.analyses.kinds import ANALYSES

        return ANALYSES[self.kind]

    @property
    def said(self) -> dict[str, Any]:
        """What was said of it, in plain values: `Analysis.of` reads it."""
        usual = self.definition.options
        parts: dict[str, Any] = {"kind": self.kind, "columns": list(self.columns), "by": list(self.by)}
        parts |= {"weight": self.weight, "unit": self.unit}
        parts |= {name: value for name, value in self.options if value != usual[name].usual}
        if self.name != type(self)(**parts).name:
            parts = {"name": self.name, **parts}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in parts.items()
            if value not in (None, [])
        }

    def __repr__(self) -> str:
        said = self.said
        first = [repr(said.pop("kind")), *([repr(said.pop("columns"))] if self.columns else [])]
        return f"Analysis({', '.join([*first, *(f'{name}={value!r}' for name, value in said.items())])})"


def listed(names: tuple[Any, ...]) -> str:
    """Return names of columns for a sentence."""
    return " and ".join([", ".join(map(str, names[:-1])), str(names[-1])] if len(names) > 1 else map(str, names))


def _checked(own: AnalysisKind, options: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return every option of a kind, in its order, or say which it does not know."""
    for name in options:
        if name not in own.options:
            known = ["columns", "by", "weight", "unit", "name", *own.options]
            raise InvalidParameter(
                f"an analysis of kind {own.name!r} has no {name!r}.{nearest(name, known)} It has {', '.join(known)}.",
                parameter=name,
            )
    return tuple((name, _value(one, name, options)) for name, one in own.options.items())


def _value(option: Option, name: str, options: Mapping[str, Any]) -> Any:
    if options.get(name) is None:
        return option.usual
    return option.check(name, options[name])


def _check_columns(own: AnalysisKind, analysis: Analysis) -> None:
    """Refuse too few or too many columns."""
    formula = dict(analysis.options).get("formula")
    if formula is not None:
        if analysis.columns:
            raise InvalidParameter(
                "an analysis has columns and a formula. Say one of them: the formula names its columns.",
                parameter="formula",
            )
        return
    least, most = own.n_columns
    if len(analysis.columns) < least or (most is not None and len(analysis.columns) > most):
        wanted = str(least) if least == most else f"{least} or more"
        raise InvalidParameter(
            f"a {own.name} of {len(analysis.columns)} column(s) cannot be computed: it needs {wanted}. {own.wanted}",
            parameter="columns",
            columns=analysis.columns,
        )
