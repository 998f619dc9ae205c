# SPDX-License-Identifier: MIT
"""`whylate serve` for tests: started, asked, ended."""
import http.client
import json
import os
import re
import signal
import subprocess

import whylate_test as t

NAME, THREAD = "startup-chain", "xinit"
TRACE = t.trace(NAME)
PATH_TYPE = "whylate.critical-path.thread"


class Server:
    """`whylate serve`, until the block ends."""

    def __init__(self, *arguments, traces=(TRACE,), program=None):
        self.process = subprocess.Popen([program or t.program((*arguments, *(os.path.basename(x) for x in traces))), "serve", *arguments, "--cache", "off", *traces],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.process.stdout.readline().decode()
        found = re.match(r"Serving .* at http://(\[.*\]|[^:/]+):(\d+)/(\w*)/?$", line.strip())
        assert found, (line, self.process.stderr.read() if self.process.poll() is not None else "")
        self.address, self.port, self.token = found[1], int(found[2]), found[3]
        self.url = "http://%s:%d" % (self.address, self.port)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.end(signal.SIGTERM)

    def end(self, number):
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=600)
        assert self.process.returncode == 0, (self.process.returncode, err.decode()[-3000:])
        return out + err

    def ask(self, method, path, body=None, headers=None, content_type="application/json"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        given = dict(headers or {})
        if body is not None and content_type:
            given["Content-Type"] = content_type
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        connection.request(method, path, body, given)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, answer, data

    def get(self, path, status=200):
        got, _, data = self.ask("GET", "/tsp/api/" + path)
        assert got == status, (path, got, data[:300])
        return json.loads(data)

    def post(self, path, parameters, status=200, **beside):
        got, _, data = self.ask("POST", "/tsp/api/" + path, {"parameters": parameters, **beside})
        assert got == status, (path, got, data[:300])
        return json.loads(data) if data else None

    def alive(self):
        assert self.get("health") == {"status": "UP"}


def experiment(server):
    return server.get("experiments")[0]


def whole(one):
    return {"start": one["start"], "end": one["end"]}


def model(server, path, parameters):
    answer = server.post("experiments/%s/outputs/%s" % (experiment(server)["UUID"], path), parameters)
    assert answer["status"] == "COMPLETED", answer
    return answer["model"]
