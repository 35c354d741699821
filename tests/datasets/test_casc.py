"""The loader against a small archive of the shape of the real one, served on loopback."""

import io
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pandas as pd
import pytest
import rdata

from microagg import datasets
from microagg.datasets import casc
from microagg.errors import DatasetUnavailable, InvalidParameter

UTILITIES = pd.DataFrame(
    {"UTILITYID": [3, 1, 2], "UTILNAME": pd.Series(["a", "b", "c"], dtype=object), "SALES": [10.0, 20.0, 30.0]}
)


def archive(name="EIA", table=UTILITIES):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        content = io.BytesIO()
        rdata.unparser.unparse_file(
            content,
            rdata.conversion.convert_python_to_r_data({name: table}, file_type="rda"),
            file_type="rda",
            compression="bzip2",
        )
        member = tarfile.TarInfo(f"sdcMicro/data/{name}.rda")
        member.size = content.tell()
        tar.addfile(member, io.BytesIO(content.getvalue()))
    return packed.getvalue()


@pytest.fixture
def server(monkeypatch, tmp_path):
    """Serve an archive, and count how often it is asked for."""

    class Handler(BaseHTTPRequestHandler):
        content = archive()
        asked = 0

        def do_GET(self):
            Handler.asked += 1
            self.send_response(200)
            self.send_header("Content-Length", str(len(self.content)))
            self.end_headers()
            self.wfile.write(self.content)

        def log_message(self, *_):
            pass

    listener = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listener.serve_forever)
    thread.start()
    columns = {"UTILITYID": np.array([3, 1, 2]), "SALES": np.array([10, 20, 30])}
    reference = casc.Reference("EIA", ("UTILITYID", "SALES"), casc.content_digest(columns))
    monkeypatch.setattr(casc, "SOURCE", f"http://127.0.0.1:{listener.server_port}/sdcMicro.tar.gz")
    monkeypatch.setitem(casc.REFERENCES, "eia", reference)
    monkeypatch.setattr(casc, "_cache", lambda: tmp_path / "cache")
    monkeypatch.delenv("MICROAGG_DATA", raising=False)
    yield Handler
    listener.shutdown()
    thread.join()
    listener.server_close()


def test_fetched_once_verified_and_remembered(server):
    for _ in range(3):
        assert datasets.load("eia", frame="pandas").to_dict("list") == {"UTILITYID": [3, 1, 2], "SALES": [10, 20, 30]}
    assert server.asked == 1


def test_a_folder_of_ones_own_comes_first(server, monkeypatch, tmp_path):
    (tmp_path / "eia.csv").write_text("UTILITYID,SALES\n3,10\n1,20\n2,30\n")
    monkeypatch.setenv("MICROAGG_DATA", str(tmp_path))
    assert datasets.load("eia").num_rows == 3
    assert server.asked == 0


def test_other_content_is_refused(server, monkeypatch, tmp_path):
    server.content = archive(table=UTILITIES.assign(SALES=[10.0, 20.0, 31.0]))
    with pytest.raises(DatasetUnavailable, match="its checksum is another one"):
        datasets.load("eia")
    assert not (tmp_path / "cache").exists()
    (tmp_path / "eia.csv").write_text("UTILITYID,SALES\n3,10\n1,20\n2,31\n")
    monkeypatch.setenv("MICROAGG_DATA", str(tmp_path))
    with pytest.raises(DatasetUnavailable, match=r"eia\.csv that was found is not"):
        datasets.load("eia")


@pytest.mark.parametrize(
    "content",
    [b"not an archive", archive()[:-60], archive(name="Other"), archive(table=UTILITIES.drop(columns="SALES"))],
    ids=["no archive", "cut off", "other file", "column missing"],  # an archive holds the time: no two are called alike
)
def test_a_broken_package_is_refused(server, content):
    server.content = content
    with pytest.raises(DatasetUnavailable):
        datasets.load("eia")


def test_no_connection(server, monkeypatch):
    monkeypatch.setattr(casc, "SOURCE", "http://127.0.0.1:9/none.tar.gz")
    with pytest.raises(DatasetUnavailable, match="set MICROAGG_DATA"):
        datasets.load("eia")
    assert server.asked == 0


def test_a_cache_that_cannot_be_written_is_no_error(server, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert datasets.load("eia").num_rows == 3
    assert server.asked == 1


def test_unknown_name():
    with pytest.raises(InvalidParameter, match="'tarragona', 'census', 'eia'"):
        datasets.load("adult")


@pytest.mark.casc
@pytest.mark.parametrize(("name", "shape"), [("tarragona", (834, 13)), ("census", (1080, 13)), ("eia", (4092, 11))])
def test_the_real_files(name, shape):
    assert datasets.load(name, frame="pandas").shape == shape
