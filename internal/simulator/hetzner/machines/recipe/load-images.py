"""Hands the images that the simulator gave to a machine to its engine, whose client may come later."""

import http.client
import os
import socket
import sys

ARCHIVE = "/usr/share/sandlot/images.tar"


class Engine(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect("/run/docker.sock")


if os.path.exists(ARCHIVE):
    engine = Engine("localhost")
    with open(ARCHIVE, "rb") as archive:
        headers = {"Content-Type": "application/x-tar", "Content-Length": str(os.path.getsize(ARCHIVE))}
        engine.request("POST", "/images/load?quiet=1", body=archive, headers=headers)
    response = engine.getresponse()
    print(response.read().decode())
    sys.exit(response.status != 200)
