def written(tmp_path, text):
    """Write a recipe file, and give its path."""
    path = tmp_path / "recipe.toml"
    path.write_text(text, "utf-8")
    return path
