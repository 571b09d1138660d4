"""A server on loopback that is no web server: it talks on the bare socket, as a broken or hostile host does."""

import contextlib
import socket
import threading
import time
from contextlib import contextmanager


class Wire:
    """The server: what it received, and where it is."""

    def __init__(self):
        self.received = b""
        self.gone = threading.Event()
        """Set when the test is over."""
        self.listener = socket.create_server(("127.0.0.1", 0))

    @property
    def port(self):
        return self.listener.getsockname()[1]

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/v1"

    def read_request(self, sock):
        """Read a request whose body has a length."""
        while b"\r\n\r\n" not in self.received:
            self.receive(sock)
        head, _, body = self.received.partition(b"\r\n\r\n")
        lengths = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-len")]
        while len(body) < sum(lengths):
            body += self.receive(sock)

    def receive(self, sock):
        data = sock.recv(1 << 16)
        if not data:
            raise ConnectionError
        self.received += data
        return data

    def drip(self, sock, data, pause_s=0.02):
        """Send a byte at a time, `data` again and again, until the client goes away."""
        while True:
            for k in range(len(data)):
                sock.sendall(data[k : k + 1])
                if self.gone.wait(pause_s):
                    return


@contextmanager
def talking(talk):
    """Serve: talk(wire, socket) is called for each connection."""
    wire = Wire()

    def one(sock):
        with sock, contextlib.suppress(OSError):
            talk(wire, sock)

    def all_of_them():
        with contextlib.suppress(OSError):  # the listener is closed
            while True:
                sock, _ = wire.listener.accept()
                workers.append(threading.Thread(target=one, args=(sock,), daemon=True))
                workers[-1].start()

    workers = []
    thread = threading.Thread(target=all_of_them, daemon=True)
    thread.start()
    try:
        yield wire
    finally:
        wire.gone.set()
        wire.listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        wire.listener.close()
        deadline = time.monotonic() + 5
        for worker in workers:
            worker.join(max(0.0, deadline - time.monotonic()))
