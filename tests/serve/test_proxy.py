"""The configuration of nginx in docs/manual/serve.md, in a real nginx before a local socket: who may, and who is logged."""

import base64
import json
import os
import re
import shutil
import ssl
import subprocess
import urllib.error
import urllib.request

import pytest
from conftest import CHECKOUT, SECONDS, make_rows, read_events, to_ndjson
from outside_programs import Program, free_port
from test_access import make_certificate
from test_operation import local  # noqa: F401

NGINX = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
(SHOWN,) = re.findall(r"^```nginx\n(.*?)^```$", (CHECKOUT / "docs/manual/serve.md").read_text(), re.DOTALL | re.MULTILINE)
PASSWORD = "correct horse"


class Nginx(Program):
    """Ours has its files in a folder, a free port, and needs no root."""

    def __init__(self, folder):
        port = free_port()
        places = {
            "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
            "/etc/nginx/oif.pem": folder / "cert.pem",
            "/etc/nginx/oif.key": folder / "cert-key.pem",
            "/etc/nginx/oif.users": folder / "users",
            "/run/oif/socket": folder / "socket",
        }
        shown = SHOWN
        for place, here in places.items():
            assert place in shown, place
            shown = shown.replace(place, str(here))
        make_certificate(folder, "cert")
        self.trust = ssl.create_default_context(cafile=str(folder / "cert.pem"))
        self.trust.check_hostname = False
        done = subprocess.run(["openssl", "passwd", "-apr1", PASSWORD], capture_output=True, text=True, check=True, timeout=SECONDS)
        (folder / "users").write_text(f"ana:{done.stdout}")
        temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        user = "user root root;" if os.geteuid() == 0 else ""
        (folder / "nginx.conf").write_text(
            f"{user} daemon off; pid {folder}/nginx.pid; error_log stderr; events {{}} http {{ access_log off; {temporary} {shown} }}"
        )
        self.url = f"https://127.0.0.1:{port}"
        super().__init__(folder, "/", [NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr"], port)

    def is_ready(self):
        assert self.process.poll() is None, self.log.read_text()
        return self.ask("GET", "/healthz")[0] == 401

    def ask(self, method, path, body=None, password=None, **headers):
        if password:
            headers["Authorization"] = "Basic " + base64.b64encode(f"ana:{password}".encode()).decode()
        asked = urllib.request.Request(self.url + path, body, headers, method=method)
        try:
            with urllib.request.urlopen(asked, timeout=SECONDS, context=self.trust) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()


@pytest.fixture
def nginx(local, tmp_path):  # noqa: F811
    """nginx, and the server behind it."""
    if not NGINX:
        pytest.skip("nginx is not installed (Debian: nginx-light)")
    server = local(tmp_path / "socket", "--external-url", "https://oif.example.org", "--data", str(tmp_path / "data"))
    server.wait_until_ready()
    started = Nginx(tmp_path)
    yield started, server
    started.stop()


def test_the_shown_proxy_lets_people_in_by_name_and_password(nginx):
    proxy, server = nginx
    assert proxy.ask("GET", "/api/v1")[0] == proxy.ask("GET", "/api/v1", password="wrong")[0] == 401
    assert "<title>" in proxy.ask("GET", "/", password=PASSWORD)[1]
    page = {"password": PASSWORD, "Origin": "https://oif.example.org", "Content-Type": "application/json"}
    assert proxy.ask("PUT", "/api/v1/streams/a", b"{}", **page)[0] == 201
    assert proxy.ask("DELETE", "/api/v1/streams/a", **{**page, "Origin": "https://evil.example"})[0] == 403
    assert proxy.ask("DELETE", "/api/v1/streams/a", **{**page, "X-Forwarded-User": "eve"})[0] == 204
    rows = to_ndjson(make_rows(30_000)).encode()
    status, text = proxy.ask("POST", "/api/v1/streams/b/rows?create=true&answer=count", rows, **{**page, "Content-Type": "application/x-ndjson"})
    assert status == 200 and json.loads(text)["accepted"] == 30_000
    assert server.end() == 0
    changes = [line for line in server.log if "event=change" in line]
    assert len(changes) == 3 and all(" user=ana from=127.0.0.1" in line for line in changes), server.log


def test_events_pass_the_shown_proxy_at_once(nginx):
    proxy, server = nginx
    password = "Basic " + base64.b64encode(f"ana:{PASSWORD}".encode()).decode()
    asked = urllib.request.Request(proxy.url + "/api/v1/events", headers={"Authorization": password})
    with urllib.request.urlopen(asked, timeout=SECONDS, context=proxy.trust) as events:
        server.ask("POST", "/api/v1/streams/a/rows?create=true", to_ndjson(make_rows(10)), {"Content-Type": "application/x-ndjson"})
        read_events(events, lambda line: "event: stream" in line)
