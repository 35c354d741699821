"""Compiled templates, kept where Python keeps compiled modules."""

import sys

import pytest

from microagg.report import templates


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path


def source_compiled(monkeypatch):
    """Give the page's template, and how many templates were compiled for it."""
    environment, compiled = templates.environment.__wrapped__(), []
    usual = environment._generate
    monkeypatch.setattr(environment, "_generate", lambda *given, **named: compiled.append(1) or usual(*given, **named))
    assert environment.get_template("page.html.j2").root_render_func
    return len(compiled)


def kept(folder):
    return [*folder.rglob("*.j2c")]


def test_a_template_is_compiled_once(folder, monkeypatch):
    assert source_compiled(monkeypatch) == 1
    assert len(kept(folder)) == 1
    assert source_compiled(monkeypatch) == 0


def test_one_that_is_spoilt_or_of_other_settings_is_compiled_anew(folder, monkeypatch):
    source_compiled(monkeypatch)
    (path,) = kept(folder)
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    assert source_compiled(monkeypatch) == 1
    assert path.read_bytes() == whole
    monkeypatch.setattr(templates, "__file__", __file__)
    assert source_compiled(monkeypatch) == 1


def test_nothing_is_kept_where_python_keeps_nothing(folder, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert source_compiled(monkeypatch) == 1
    assert kept(folder) == []


def test_a_folder_that_cannot_be_written_is_no_error(folder, monkeypatch):
    monkeypatch.setattr(sys, "pycache_prefix", str(folder / "file"))
    (folder / "file").write_text("not a folder")
    assert source_compiled(monkeypatch) == source_compiled(monkeypatch) == 1
