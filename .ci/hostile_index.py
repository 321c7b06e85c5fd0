"""A package index that lies, for .ci/hostile: hostile_index.py PORTFILE LIBRARY PLUGIN MODE."""
import hashlib
import http.server
import io
import json
import re
import sys
import time
import zipfile

port_file, library, plugin, mode = sys.argv[1:]
files = {name: sum_ for sum_, name in map(str.split, open("plugins/wheels.sha256"))}
projects = {"cpu": "xla_cpu_pjrt", "tpu": "libtpu", "cuda": "jax_cuda13_pjrt"}
path = {
    "cpu": "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so",
    "tpu": "libtpu/libtpu.so",
    "cuda": "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
}[plugin]
genuine = [f for f in files if f.startswith(projects[plugin] + "-") and f.endswith("x86_64.whl")][-1]
project, version, tags = re.match(r"([^-]+)-([^-]+)-(.*)", genuine).groups()

packed = io.BytesIO()
with zipfile.ZipFile(packed, "w") as z:
    z.write(library, path)
wheel = packed.getvalue()
sum_ = hashlib.sha256(wheel).hexdigest()
name = {
    "build-tag": f"{project}-{version}-1-{tags}",
    "py3-none": f"{project}-{version}-py3-none-manylinux_2_17_x86_64.whl",
    "other-project": f"other-{version}-{tags}",
}.get(mode, genuine)
if mode in ("lying-sum", "silent", "endless"):
    sum_ = files[genuine]


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path.startswith("/simple/"):
            page = {"meta": {"api-version": "1.1"}, "name": project, "files": [
                {"filename": name, "url": "/files/" + name, "hashes": {"sha256": sum_}}]}
            body, kind = json.dumps(page).encode(), "application/vnd.pypi.simple.v1+json"
        else:
            body, kind = wheel, "application/octet-stream"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        if mode == "endless" and self.path.startswith("/files/"):
            self.end_headers()
            self.wfile.write(body)
            try:
                while True:  # without a length, until the other side has enough
                    self.wfile.write(b"\0" * (1 << 20))
            except ConnectionError:
                return
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if mode == "silent":
            time.sleep(600)
        self.wfile.write(body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open(port_file, "w") as f:
    f.write(str(server.server_port))
server.serve_forever()
