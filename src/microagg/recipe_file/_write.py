"""Writing a recipe with what its choices mean, and with what a person has written beside them."""

from microagg.recipe_file._form import NAMES, TABLES, RecipeFile, known_keys, quoted
from microagg.recipe_file._lines import Place

_TITLE = (
    "How a file is masked: every choice stands here. Edit, then: microagg mask FILE --recipe THIS",
    "Beside each column of a guessed role stands why.",
)
_MADE_FOR = "Made for "
_LEFT_OUT = {
    ("select",): "No [select]: all masked columns form the groups.",
    ("refine",): "No [refine]: the groups are as the method formed them.",
    ("risk", "keys"): "No keys: the intruder knows all masked columns and the strata.",
    ("risk", "sample"): "No sample: linkage is measured on all records.",
}
"""What it means that something is not there and that no word could say in its place."""


def recipe_text(recipe: RecipeFile, name: str) -> str:
    """Write a recipe out for a file of this name.

    What each choice means stands beside it, unless something else was written there; other comments are kept.
    """
    comments = recipe.comments
    ours = {*_TITLE, *_LEFT_OUT.values(), *(key.remark for key in TABLES["roles"].values())}

    def kept(lines: tuple[str, ...]) -> list[str]:
        return [f"# {line}" for line in lines if line not in ours and not line.startswith(_MADE_FOR)]

    def beside(place: Place, usual: str = "") -> str:
        remark = comments.beside.get(place, usual)
        return f"  # {remark}" if remark else ""

    def over(place: Place) -> list[str]:
        return kept(comments.over.get(place, ()))

    lines = [f"# {line}" for line in (*_TITLE, f"{_MADE_FOR}{name!r}.")] + kept(comments.title)
    lines += ["", *over(("k",)), f"k = {recipe.k}{beside(('k',), TABLES['']['k'].remark)}"]
    for table in filter(None, TABLES):
        keys = recipe.table(table)
        if not keys:
            lines += ["", f"# {_LEFT_OUT[table,]}"] if (table,) in _LEFT_OUT else []
            continue
        lines += ["", *over((table,)), f"[{table}]{beside((table,))}"]
        lines += [f"# {said}" for place, said in _LEFT_OUT.items() if place[0] == table and not {*place[1:]} <= {*keys}]
        known = known_keys(table, str(keys.get("name", "mdav")))
        for key, value in keys.items():
            place, remark = (table, key), known[key].remark
            lines += ([f"# {remark}"] if table == "roles" else []) + over(place)
            if known[key].kind == NAMES and value:
                width = max(len(quoted(one)) for one in value) + 1
                lines.append(f"{key} = [{beside(place)}")
                for one in value:
                    said = beside((*place, one))
                    written = f"{quoted(one)},"
                    lines += [f"    {line}" for line in over((*place, one))]
                    lines.append(f"    {written:{width}}{said}" if said else f"    {written}")
                lines.append("]")
            else:
                lines.append(f"{key} = {quoted(value)}{beside(place, '' if table == 'roles' else remark)}")
    end = kept(comments.end)
    return "\n".join([*lines, *([""] if end else []), *end]) + "\n"
