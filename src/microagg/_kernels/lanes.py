"""Eight numbers at a time: a value that kernels keep in the processor's wide registers.

The compiler makes loops over arrays wide by itself, but carries their sums through memory from one column to the next.
What is written here stays in registers, whatever their width: a machine with narrow ones uses several. Each lane is
computed as a number of its own would be, in the same order and rounded alike, so that not a bit differs.
"""

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing import signature
from numba.core.typing.templates import ConcreteTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, models, register_model

LANES = 8

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_BITS = ir.IntType(LANES)


class _LanesType(types.Type):  # type: ignore[misc]
    """Numba's name for eight numbers."""

    def __init__(self) -> None:
        super().__init__(name=f"lanes({LANES})")


_lanes = _LanesType()


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _define(sign: Any, instruction: str) -> None:
    """Let kernels write `a + b` and the like of lanes."""

    class _Operator(ConcreteTemplate):  # type: ignore[misc]
        cases = (signature(_lanes, _lanes, _lanes),)

    infer_global(sign)(_Operator)

    def lower(context: Any, builder: Any, sig: Any, given: Any) -> Any:  # noqa: ARG001
        return getattr(builder, instruction)(*given)

    lower_builtin(sign, _lanes, _lanes)(lower)


for _sign, _instruction in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _define(_sign, _instruction)


def _spread(builder: Any, number: Any) -> Any:
    """Give a vector that has a number in every lane."""
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), zeros)


def _address(context: Any, builder: Any, kind: Any, array: Any, place: Any) -> Any:
    """Give where eight numbers of an array begin, at a place that is a tuple of indices."""
    made = context.make_array(kind)(context, builder, array)
    indices = cgutils.unpack_tuple(builder, place)
    first = cgutils.get_item_pointer(context, builder, kind, made, indices, wraparound=False, boundscheck=False)
    return builder.bitcast(first, _VECTOR.as_pointer())


@intrinsic
def spread(typing, number):  # noqa: ARG001
    """Give a number in every lane."""
    return _lanes(types.float64), lambda context, builder, sig, given: _spread(builder, given[0])  # noqa: ARG005


@intrinsic
def load(typing, array, place):  # noqa: ARG001
    """Give the eight numbers of an array that begin at a place, a tuple of indices."""

    def lower(context: Any, builder: Any, sig: Any, given: Any) -> Any:
        return builder.load(_address(context, builder, sig.args[0], *given), align=8)

    return _lanes(array, types.UniTuple(types.intp, array.ndim)), lower


@intrinsic
def store(typing, numbers, array, place):  # noqa: ARG001
    """Write eight numbers into an array, from a place on."""

    def lower(context: Any, builder: Any, sig: Any, given: Any) -> Any:
        builder.store(given[0], _address(context, builder, sig.args[1], *given[1:]), align=8)
        return context.get_dummy_value()

    return types.void(_lanes, array, types.UniTuple(types.intp, array.ndim)), lower


def _chosen(comparison: str) -> Any:
    def lower(context: Any, builder: Any, sig: Any, given: Any) -> Any:  # noqa: ARG001
        return builder.select(builder.fcmp_ordered(comparison, *given), *given)

    return lower


@intrinsic
def larger(typing, a, b):  # noqa: ARG001
    """Give, lane by lane, a if a > b else b."""
    return _lanes(_lanes, _lanes), _chosen(">")


@intrinsic
def smaller(typing, a, b):  # noqa: ARG001
    """Give, lane by lane, a if a < b else b."""
    return _lanes(_lanes, _lanes), _chosen("<")


def _reduced(comparison: str) -> Any:
    def lower(context: Any, builder: Any, sig: Any, given: Any) -> Any:  # noqa: ARG001
        numbers, width = given[0], LANES
        while width > 1:
            width //= 2
            order = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [(i + width) % LANES for i in range(LANES)])
            others = builder.shuffle_vector(numbers, numbers, order)
            numbers = builder.select(builder.fcmp_ordered(comparison, numbers, others), numbers, others)
        return builder.extract_element(numbers, ir.IntType(32)(0))

    return lower


@intrinsic
def least(typing, a):  # noqa: ARG001
    """Give the least number of all lanes."""
    return types.float64(_lanes), _reduced("<")


@intrinsic
def largest(typing, a):  # noqa: ARG001
    """Give the largest number of all lanes."""
    return types.float64(_lanes), _reduced(">")


@intrinsic
def differing(typing, a, b, value):  # noqa: ARG001
    """Give, lane by lane, the value if a != b else 0."""

    def lower(context: Any, builder: Any, sig: Any, given: Any) -> Any:  # noqa: ARG001
        a, b, value = given
        return builder.select(builder.fcmp_unordered("!=", a, b), value, ir.Constant(_VECTOR, [0.0] * LANES))

    return _lanes(_lanes, _lanes, _lanes), lower


@intrinsic
def first_or(typing, filled, a, other):  # noqa: ARG001
    """Give a in so many of the first lanes, and the other number in the rest."""

    def lower(context: Any, builder: Any, sig: Any, given: Any) -> Any:  # noqa: ARG001
        filled, a, other = given
        wide = ir.VectorType(ir.IntType(64), LANES)
        one = builder.insert_element(ir.Constant(wide, ir.Undefined), filled, ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        limits = builder.shuffle_vector(one, ir.Constant(wide, ir.Undefined), zeros)
        held = builder.icmp_signed("<", ir.Constant(wide, list(range(LANES))), limits)
        return builder.select(held, a, _spread(builder, other))

    return _lanes(types.intp, _lanes, types.float64), lower


def _compared(comparison: str) -> Any:
    def lower(context: Any, builder: Any, sig: Any, given: Any) -> Any:  # noqa: ARG001
        held = builder.fcmp_ordered(comparison, given[0], _spread(builder, given[1]))
        return builder.zext(builder.bitcast(held, _BITS), ir.IntType(64))

    return lower


@intrinsic
def at_most(typing, a, number):  # noqa: ARG001
    """Give a bit for each lane, the first one lowest: whether it is at most a number."""
    return types.int64(_lanes, types.float64), _compared("<=")


@intrinsic
def at_least(typing, a, number):  # noqa: ARG001
    """Give a bit for each lane, the first one lowest: whether it is at least a number."""
    return types.int64(_lanes, types.float64), _compared(">=")


@intrinsic
def lowest_bit(typing, bits):  # noqa: ARG001
    """Give the place of the lowest bit that is set; there is one."""

    def lower(context: Any, builder: Any, sig: Any, given: Any) -> Any:  # noqa: ARG001
        return builder.cttz(given[0], ir.IntType(1)(1))

    return types.int64(types.int64), lower
