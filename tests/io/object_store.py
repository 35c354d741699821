"""An object store of the tests' own: moto's emulation of S3, on loopback, which counts what passes.

`python -m tests.io.object_store HOST` runs one as a program, for processes that share nothing else: it prints its port,
and ends when its standard input does. `GET /-/counted` gives what it has counted.
"""

import contextlib
import json
import logging
import os
import sys
import threading
import urllib.request
from types import SimpleNamespace

BUCKET = "bucket"
KEY, SECRET = "AKIDTESTKEEPER", "pass-Wort/1"
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": KEY,
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


class Counted:
    """A WSGI application that counts requests and bytes, and lets `before(environ)` refuse with a status."""

    def __init__(self, application):
        self.application, self.before = application, None
        self.requests, self.received, self.sent = {}, 0, 0
        self._lock = threading.Lock()

    def __call__(self, environ, start):
        if environ["PATH_INFO"] == "/-/counted":
            start("200 OK", [("Content-Type", "application/json")])
            return [json.dumps(self.counted()).encode()]
        with self._lock:
            method = environ["REQUEST_METHOD"]
            self.requests[method] = self.requests.get(method, 0) + 1
            decoded = environ.get("HTTP_X_AMZ_DECODED_CONTENT_LENGTH")  # of what comes in chunks
            self.received += int(decoded or environ.get("CONTENT_LENGTH") or 0)
        status = self.before and self.before(environ)
        if status:
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            start(status, [("Content-Length", "0")])
            return [b""]
        body = self.application(environ, start)
        return self._counting(body)

    def _counting(self, body):
        try:
            for piece in body:
                with self._lock:
                    self.sent += len(piece)
                yield piece
        finally:
            getattr(body, "close", lambda: None)()

    def counted(self):
        return {"requests": dict(self.requests), "received": self.received, "sent": self.sent}


@contextlib.contextmanager
def object_store(host="127.0.0.1"):
    """Run a store in a thread; give its endpoint, `before` to set, and what was counted."""
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        protocol_version = "HTTP/1.1"  # which keeps connections

        def log(self, *_):
            pass

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    counted = Counted(DomainDispatcherApplication(create_backend_app))
    server = make_server(host, 0, counted, threaded=True, request_handler=Quiet)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    endpoint = f"http://{host}:{server.port}"
    urllib.request.urlopen(urllib.request.Request(f"{endpoint}/{BUCKET}", method="PUT")).close()
    try:
        yield SimpleNamespace(endpoint=endpoint, port=server.port, counted=counted)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def keys_in(endpoint):
    """List all keys, hidden ones too, but for the empty ones by which PyArrow marks folders."""
    from pyarrow.fs import FileSelector, S3FileSystem

    system = S3FileSystem(endpoint_override=endpoint, access_key=KEY, secret_key=SECRET, region="us-east-1")
    found = system.get_file_info(FileSelector(BUCKET, recursive=True))
    return sorted(one.path.removeprefix(f"{BUCKET}/") for one in found if one.is_file)


if __name__ == "__main__":
    os.environ.update(ENVIRONMENT)
    with object_store(sys.argv[1]) as running:
        print(running.port, flush=True)
        sys.stdin.read()
