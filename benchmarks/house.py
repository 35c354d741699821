"""Count what makes the source hard to hold in mind: `python benchmarks/house.py [FOLDER]`.

Lines, files, modules in the root, classes that only carry data, class names used twice, functions of more than eight
arguments or sixty lines, and lines that pass progress on. Public signatures and kernels are counted apart.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

MOST_ARGUMENTS, MOST_LINES = 8, 60
_CARRYING = {"frozen", "dataclass", "NamedTuple"}


def counts(folder: Path) -> dict[str, int]:
    """Count in all modules below a folder."""
    files = sorted(folder.rglob("*.py"))
    texts = {path: path.read_text("utf-8") for path in files}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    classes = [node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    functions = [(path, node) for path, tree in trees.items() for node in _functions(tree)]
    many = [(path, node) for path, node in functions if _arguments(node) > MOST_ARGUMENTS]
    kernels = [node for path, node in many if "kernels" in str(path.relative_to(folder)) or _is_kernel(node)]
    public = [node for _, node in many if node not in kernels and _is_public(node)]
    names = Counter(node.name for node in classes)
    return {
        "lines": sum(text.count("\n") for text in texts.values()),
        "files": len(files),
        "modules in the root": sum(path.parent == folder for path in files),
        "classes": len(classes),
        "classes that only carry data": sum(map(_carries, classes)),
        "class names used twice or more": sum(count > 1 for count in names.values()),
        f"functions of more than {MOST_ARGUMENTS} arguments": len(many) - len(kernels) - len(public),
        "  of these that users call, apart": len(public),
        "  and kernels, apart": len(kernels),
        f"functions of more than {MOST_LINES} lines": sum(_length(node) > MOST_LINES for _, node in functions),
        "lines with progress": sum(
            bool(re.search(r"\bprogress\b", line)) for t in texts.values() for line in t.splitlines()
        ),
    }


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


def _arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    own = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return len(own) - (bool(own) and own[0].arg in ("self", "cls"))


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the lines of a function without its documentation."""
    body = node.body
    first = body[0]
    text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    documented = (first.end_lineno or 0) - first.lineno + 1 if text else 0
    return (node.end_lineno or 0) - node.lineno + 1 - documented


def _is_kernel(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("kernel" in ast.unparse(one) or "inlined" in ast.unparse(one) for one in node.decorator_list)


def _is_public(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether users call it: it has an example, sets up an estimator, or is in the reference."""
    said = ast.get_docstring(node) or ""
    return ">>>" in said or "Example: " in said or node.name == "__init__" or node.name in _in_the_reference()


@cache
def _in_the_reference() -> frozenset[str]:
    pages = (Path(__file__).parent.parent / "docs" / "reference").glob("*.md")
    return frozenset(name for page in pages for name in re.findall(r"autofunction:: [\w.]*?(\w+)\n", page.read_text()))


def _carries(node: ast.ClassDef) -> bool:
    """Return whether a class has fields, and no method but properties and those that Python calls."""
    said = {re.sub(r"\(.*", "", ast.unparse(one)) for one in [*node.decorator_list, *node.bases]}
    methods = [one for one in node.body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return bool(said & _CARRYING) and not methods


def main(arguments: list[str]) -> None:
    """Print the table."""
    folder = Path(arguments[0]) if arguments else Path(__file__).parent.parent / "src" / "microagg"
    for name, count in counts(folder).items():
        print(f"{name:48} {count:8}")


if __name__ == "__main__":
    main(sys.argv[1:])
