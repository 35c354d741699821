"""recipe.toml: every choice that a run depends on, in a file that a person can read, edit and sign."""

from microagg.recipe_file._form import METHODS, RecipeFile
from microagg.recipe_file._lines import Comments
from microagg.recipe_file._read import read_recipe
from microagg.recipe_file._write import recipe_text

__all__ = ["METHODS", "Comments", "RecipeFile", "read_recipe", "recipe_text"]
