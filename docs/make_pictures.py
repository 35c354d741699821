"""Draw the pictures of the README: a terminal session, the report it leads to, and the app, as they really come out."""

import io
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from make_app_pictures import draw
from PIL import Image
from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.terminal_theme import TerminalTheme

HERE = Path(__file__).parent
WIDTH = 120  # characters of a line, as the program writes to what is no terminal
THEME = TerminalTheme(
    (250, 250, 248), (40, 44, 52), [(40, 44, 52)] + [(60, 90, 120)] * 7, [(110, 115, 125)] + [(40, 44, 52)] * 7
)
SESSION = (
    ("microagg", "datasets", "make", "survey", "-o", "survey.csv"),
    ("microagg", "inspect", "survey.csv"),
    ("sed", "-i", "-e", '/^    "weight",/d', "-e", '/^\\[roles\\]/a weight = "weight"', "recipe.toml"),
    ("microagg", "mask", "survey.csv", "--recipe", "recipe.toml", "-o", "out"),
)
PAGE = "<style>body{{margin:0;padding:18px 22px;background:#fafaf8}}</style>"
CODE = PAGE + "<pre style='font:13px/1.45 monospace;color:#282c34;margin:0'>{code}</pre>"


def session(folder):
    """Run the commands in a folder; give what the terminal shows as HTML."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), color_system="truecolor")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    around = os.environ | {"PATH": path}
    for words in SESSION:
        console.print(f"$ {shlex.join(words)}", style="bold", highlight=False, markup=False)
        done = subprocess.run(words, cwd=folder, env=around, capture_output=True, text=True, check=True)
        console.print(done.stdout.rstrip() + "\n" if done.stdout else "", highlight=False, markup=False)
    return console.export_html(theme=THEME, inline_styles=True, code_format=CODE)


def main():
    """Draw all of them."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        terminal = Path(folder) / "terminal.html"
        terminal.write_text(session(folder), "utf-8")
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 100}, device_scale_factor=1.5)
        page.goto(terminal.as_uri())
        page.screenshot(path=HERE / "terminal.png", full_page=True)
        page.set_viewport_size({"width": 1100, "height": 1150})
        page.goto((Path(folder) / "out" / "internal" / "report.html").as_uri())
        page.screenshot(path=HERE / "report.png")
        private = Path(folder) / "persons"  # a folder of its own: the app lists what else lies beside the file
        private.mkdir()
        (Path(folder) / "survey.csv").rename(private / "survey.csv")
        for path in (HERE / "terminal.png", HERE / "report.png", *draw(browser, private)):
            shrink(path)
        browser.close()


def shrink(path):
    """Keep as many colours as a page of text and lines needs: a third of the bytes."""
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
