"""Eight numbers at a time, or sixteen of single precision: values that kernels keep in the processor's wide registers.

The compiler makes loops over arrays wide by itself, but carries their sums through memory from one column to the next.
What is written here stays in registers, whatever their width: a machine with narrow ones uses several. Each lane is
computed as a number of its own would be, in the same order and rounded the same way, so that not a bit differs.
"""

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing import signature
from numba.core.typing.templates import ConcreteTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, models, register_model

LANES = 8
SINGLE_LANES = 16

_PLACES = ir.IntType(32)  # of a lane


class _LanesType(types.Type):
    """Numba's name for some numbers of one precision."""

    def __init__(self, element: Any, width: int) -> None:
        self.element, self.width = element, width
        self.vector = ir.VectorType(ir.DoubleType() if element == types.float64 else ir.FloatType(), width)
        super().__init__(name=f"lanes({width} of {element})")


_DOUBLE = _LanesType(types.float64, LANES)
_SINGLE = _LanesType(types.float32, SINGLE_LANES)
_LANES_OF = {kind.element: kind for kind in (_DOUBLE, _SINGLE)}


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: _LanesType) -> None:
        super().__init__(manager, kind, kind.vector)


def _define(sign: Any, instruction: str) -> None:
    """Let kernels write `a + b` and the like of lanes."""

    class _Operator(ConcreteTemplate):  # type: ignore[misc]
        cases = tuple(signature(kind, kind, kind) for kind in _LANES_OF.values())

    infer_global(sign)(_Operator)

    def lower(context: Any, builder: Any, sig: Any, given: Any) -> Any:  # noqa: ARG001
        return getattr(builder, instruction)(*given)

    for kind in _LANES_OF.values():
        lower_builtin(sign, kind, kind)(lower)


for _sign, _instruction in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _define(_sign, _instruction)


def _spread(builder: Any, vector: ir.VectorType, number: Any) -> Any:
    """Return a vector that has a number in every lane."""
    nothing = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, number, _PLACES(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(_PLACES, vector.count), [0] * vector.count))


def _address(context: Any, builder: Any, kind: Any, array: Any, place: Any, vector: ir.VectorType) -> Any:
    """Return where numbers of an array begin, at a place that is a tuple of indices."""
    made = context.make_array(kind)(context, builder, array)
    indices = cgutils.unpack_tuple(builder, place)
    first = cgutils.get_item_pointer(context, builder, kind, made, indices, wraparound=False, boundscheck=False)
    return builder.bitcast(first, vector.as_pointer())


@intrinsic
def spread(typing, number):  # noqa: ARG001
    """Return a number in every lane: eight of double precision, sixteen of single."""
    kind = _LANES_OF[number]
    return kind(number), lambda context, builder, sig, given: _spread(builder, kind.vector, given[0])  # noqa: ARG005


@intrinsic
def load(typing, array, place):  # noqa: ARG001
    """Return the eight numbers of an array that begin at a place, a tuple of indices."""

    def lower(context: Any, builder: Any, sig: Any, given: Any) -> Any:
        return builder.load(_address(context, builder, sig.args[0], given[0], given[1], _DOUBLE.vector), align=8)

    return _DOUBLE(array, types.UniTuple(types.intp, array.ndim)), lower


@intrinsic
def load_bytes(typing, array, place):  # noqa: ARG001
    """Return, in single precision, the sixteen bytes of an array that begin at a place, a tuple of indices."""

    def lower(context: Any, builder: Any, sig: Any, given: Any) -> Any:
        stored = ir.VectorType(ir.IntType(8), SINGLE_LANES)
        numbers = builder.load(_address(context, builder, sig.args[0], given[0], given[1], stored), align=1)
        return builder.uitofp(numbers, _SINGLE.vector)

    return _SINGLE(array, types.UniTuple(types.intp, array.ndim)), lower


@intrinsic
def store(typing, numbers, array, place):  # noqa: ARG001
    """Write eight numbers into an array, from a place on."""

    def lower(context: Any, builder: Any, sig: Any, given: Any) -> Any:
        builder.store(given[0], _address(context, builder, sig.args[1], given[1], given[2], _DOUBLE.vector), align=8)
        return context.get_dummy_value()

    return types.void(_DOUBLE, array, types.UniTuple(types.intp, array.ndim)), lower


def _chosen(comparison: str) -> Any:
    def lower(context: Any, builder: Any, sig: Any, given: Any) -> Any:  # noqa: ARG001
        return builder.select(builder.fcmp_ordered(comparison, *given), *given)

    return lower


@intrinsic
def larger(typing, a, b):  # noqa: ARG001
    """Return, lane by lane, a if a > b else b."""
    return a(a, a), _chosen(">")


@intrinsic
def smaller(typing, a, b):  # noqa: ARG001
    """Return, lane by lane, a if a < b else b."""
    return a(a, a), _chosen("<")


def _reduced(comparison: str) -> Any:
    def lower(context: Any, builder: Any, sig: Any, given: Any) -> Any:  # noqa: ARG001
        numbers, width = given[0], LANES
        while width > 1:
            width //= 2
            order = ir.Constant(ir.VectorType(_PLACES, LANES), [(i + width) % LANES for i in range(LANES)])
            others = builder.shuffle_vector(numbers, numbers, order)
            numbers = builder.select(builder.fcmp_ordered(comparison, numbers, others), numbers, others)
        return builder.extract_element(numbers, _PLACES(0))

    return lower


@intrinsic
def least(typing, a):  # noqa: ARG001
    """Return the least number of all lanes."""
    return types.float64(_DOUBLE), _reduced("<")


@intrinsic
def largest(typing, a):  # noqa: ARG001
    """Return the largest number of all lanes."""
    return types.float64(_DOUBLE), _reduced(">")


@intrinsic
def differing(typing, a, b, value):  # noqa: ARG001
    """Return, lane by lane, the value if a != b else 0."""

    def lower(context: Any, builder: Any, sig: Any, given: Any) -> Any:  # noqa: ARG001
        nothing = ir.Constant(kind.vector, [0.0] * kind.width)
        return builder.select(builder.fcmp_unordered("!=", *given[:2]), given[2], nothing)

    kind = a
    return kind(kind, kind, kind), lower


@intrinsic
def first_or(typing, filled, a, other):  # noqa: ARG001
    """Return a in so many of the first lanes, and the other number in the rest."""

    def lower(context: Any, builder: Any, sig: Any, given: Any) -> Any:  # noqa: ARG001
        wide = ir.VectorType(ir.IntType(64), LANES)
        held = builder.icmp_signed("<", ir.Constant(wide, list(range(LANES))), _spread(builder, wide, given[0]))
        return builder.select(held, given[1], _spread(builder, _DOUBLE.vector, given[2]))

    return _DOUBLE(types.intp, _DOUBLE, types.float64), lower


def _compared(comparison: str) -> Any:
    def lower(context: Any, builder: Any, sig: Any, given: Any) -> Any:  # noqa: ARG001
        kind = sig.args[0]
        compare = builder.fcmp_unordered if kind == _SINGLE else builder.fcmp_ordered
        held = compare(comparison, given[0], _spread(builder, kind.vector, given[1]))
        return builder.zext(builder.bitcast(held, ir.IntType(kind.width)), ir.IntType(64))

    return lower


@intrinsic
def at_most(typing, a, number):  # noqa: ARG001
    """Return a bit for each lane, the first one lowest: whether it is at most a number.

    In single precision, which only leaves out what cannot be, NaN is at most any number, and at least, too.
    """
    return types.int64(a, a.element), _compared("<=")


@intrinsic
def at_least(typing, a, number):  # noqa: ARG001
    """Return a bit for each lane, the first one lowest: whether it is at least a number."""
    return types.int64(a, a.element), _compared(">=")


@intrinsic
def lowest_bit(typing, bits):  # noqa: ARG001
    """Return the place of the lowest bit that is set; there is one."""

    def lower(context: Any, builder: Any, sig: Any, given: Any) -> Any:  # noqa: ARG001
        return builder.cttz(given[0], ir.IntType(1)(1))

    return types.int64(types.int64), lower
