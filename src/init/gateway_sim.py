"""gateway-sim for tests in Python 3.10 or newer. It needs only the standard library.

It uses the emulator at GATEWAY_SIM_URL, which `gateway-sim exec` sets. Without it, it starts an emulator in memory that
stops with this process. Set GATEWAY_SIM_BIN to the program if it is neither in a node_modules folder nor on the PATH.
For pytest there is a fixture: `from gateway_sim import gateway_sim`.

A reference is a payment id, or an identifier: its newest pending payment, or its newest if none is pending.
Every failure is a GatewaySimError that says what happened instead.
"""

import hashlib
import hmac
import json
import os
import secrets
import ssl
import subprocess
import threading
import time
from contextlib import AbstractContextManager, suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from socketserver import ThreadingMixIn
from urllib.parse import parse_qs, parse_qsl, quote, urlencode, urlsplit
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

# Run by `gateway-sim exec`: prints its environment, and ends when its stdin closes.
PRINT_ENVIRONMENT = "console.log(JSON.stringify(process.env)); process.stdin.resume()"
Server = type("Server", (ThreadingMixIn, WSGIServer), {"daemon_threads": True})
QuietHandler = type("QuietHandler", (WSGIRequestHandler,), {"log_message": lambda *_: None})


class GatewaySimError(Exception):
    """Says what happened instead, and what to do."""


class GatewaySim(AbstractContextManager):
    """An emulator: `url` (without a trailing slash), `initiate_url`, `public_key`, `secret_key`, and the methods for tests."""

    def __init__(self, environment, process=None):
        self._environment, self._process, self._servers = environment, process, []
        self.url = environment["GATEWAY_SIM_URL"].rstrip("/")
        self.initiate_url = f"{self.url}/sandbox/payment/initiate"
        merchants = self._call("GET", "/_sim/merchants").get("data") or []
        first = next((one for one in merchants if one["isDefault"]), None)
        if first is None:
            raise GatewaySimError(f"{self.url} is not gateway-sim: set GATEWAY_SIM_URL to an emulator, or unset it")
        self.public_key = environment.get("GATEWAY_SIM_PUBLIC_KEY") or first["publicKey"]
        self.secret_key = environment.get("GATEWAY_SIM_SECRET_KEY") or first["secretKey"]

    @classmethod
    def start(cls, *options: str) -> "GatewaySim":
        """Accepts the options of `gateway-sim start`, as on the command line: `"--auto", "approve"`."""
        if not os.environ.get("GATEWAY_SIM_URL"):
            return cls(*_begin(options))
        if options:
            raise GatewaySimError("GATEWAY_SIM_URL names a running emulator: pass the options to that emulator instead of start()")
        return cls(dict(os.environ))

    def stop(self) -> None:
        """Stops the servers of `serve` and the emulator, if it was started here. All also stop when the process ends."""
        while self._servers:
            server = self._servers.pop()
            server.shutdown()
            server.server_close()
        if self._process:
            self._process.communicate()

    def __exit__(self, *_) -> None:
        self.stop()

    def serve(self, app) -> str:
        """Runs your WSGI application (Flask, Django) or BaseHTTPRequestHandler in threads; returns its address.

        Sets the variables that the shop reads, such as GATEWAY_SIM_SECRET_KEY.
        """
        os.environ["GATEWAY_SIM_INITIATE_URL"] = self.initiate_url
        os.environ["GATEWAY_SIM_PUBLIC_KEY"] = self.public_key
        os.environ["GATEWAY_SIM_SECRET_KEY"] = self.secret_key
        server = Server(("127.0.0.1", 0), app if isinstance(app, type) else QuietHandler)
        server.set_app(app)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self._servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    def initiate(self, fields: dict | None = None, /, **more: str) -> dict:
        """Initiates a payment as a shop does. Every field has a working default. Returns `url` and the record."""
        fields = {**(fields or {}), **more}
        defaults = {
            "public_key": self.public_key, "identifier": secrets.token_hex(10), "currency": "USD", "amount": "49.90",
            "details": "Test payment", "ipn_url": "http://localhost:3000/ipn", "site_logo": f"{self.url}/_sim/ui/logo.svg",
            "success_url": f"{self.url}/_sim/ui/paid", "cancel_url": f"{self.url}/_sim/ui/canceled",
            "checkout_theme": "light", "customer_name": "Ada Example", "customer_email": "wallet@example.com",
        }
        if unknown := fields.keys() - defaults.keys():
            raise GatewaySimError(f"unknown field {', '.join(unknown)} of initiate(): use {', '.join(defaults)}")
        answer = self._call("POST", "/sandbox/payment/initiate", urlencode(defaults | fields))
        payment_id = parse_qs(urlsplit(answer["url"]).query)["payment_id"][0]
        return answer | self._call("GET", f"/_sim/payments/{payment_id}")

    def approve(self, reference: str) -> dict:
        """The customer pays, and the IPN is attempted. Returns `payment`, `delivery` with its attempts, `redirectUrl`."""
        return self._settle(reference, "approve")

    def cancel(self, reference: str) -> dict:
        """The customer cancels."""
        return self._settle(reference, "cancel")

    def fail(self, reference: str) -> dict:
        """The payment fails."""
        return self._settle(reference, "fail")

    def wait_for_ipn(self, reference: str, seconds: float = 4) -> dict:
        """The fields of the newest IPN as sent, such as `data[amount]`, after its first attempt, answered or not."""
        end = time.monotonic() + seconds
        while True:
            ipn = self._newest_ipn(reference)
            is_late = time.monotonic() > end
            if ipn and (ipn["attempts"] or is_late and ipn["underWay"]):
                is_form = ipn["contentType"] != "application/json"
                return dict(parse_qsl(ipn["body"], True)) if is_form else json.loads(ipn["body"])
            if is_late or ipn and ipn["state"] == "refused":
                raise self._without_ipn(reference, ipn)
            time.sleep(0.02)

    def assert_delivered(self, reference: str | dict, diagnose: bool = True, seconds: float = 4) -> dict:
        """Waits until the newest genuine IPN of a payment was delivered with a correct response, and returns it.

        `reference` is a payment or an IPN, or its id or identifier. If the receiver rejects the IPN, it is asked why, with
        variants of the IPN (3 s at most), unless `diagnose` is false. Raises AssertionError with the cause and the fix.
        """
        reference = reference["id"] if isinstance(reference, dict) else reference
        end = time.monotonic() + seconds
        while True:
            ipn = self._newest_ipn(reference, is_genuine=True)
            if ipn and (ipn["state"] != "pending" or ipn["verdict"]["tone"] == "bad"):
                break
            if time.monotonic() > end:
                raise self._without_ipn(reference, ipn)
            time.sleep(0.02)
        if _is_delivered(ipn):
            return ipn
        if diagnose and ipn["attempts"] and ipn["attempts"][-1]["responseStatus"]:
            with suppress(GatewaySimError):  # the verdict says what is known
                self._call("POST", f"/_sim/ipns/{ipn['id']}/diagnose", '{"automatic":true}')
        after = self._call("GET", f"/_sim/ipns/{ipn['id']}")
        verdict = (ipn if _is_delivered(after) else after)["verdict"]
        raise AssertionError(f"{verdict['cause']} {verdict['fix'] or ''}".strip())

    def newest_payment(self) -> dict:
        """The newest payment."""
        if payments := self._call("GET", "/_sim/payments?limit=1")["data"]:
            return payments[0]
        raise GatewaySimError("no payment was initiated: call initiate(), or let your shop do it with visit()")

    def visit(self, address: str, fields: dict | None = None) -> dict:
        """Initiates a payment through your shop: opens this address of it, or posts the fields; returns the payment."""
        newest = lambda: next(iter(self._call("GET", "/_sim/payments?limit=1")["data"]), None)  # noqa: E731
        before, target = newest(), urlsplit(address)
        kind = HTTPSConnection if target.scheme == "https" else HTTPConnection
        connection = kind(target.netloc, timeout=60)
        path = (target.path or "/") + (f"?{target.query}" if target.query else "")
        try:
            form = {"Content-Type": "application/x-www-form-urlencoded"}
            if fields is None:
                connection.request("GET", path)
            else:
                connection.request("POST", path, urlencode(fields).encode(), form)
            answer = connection.getresponse()
            said = f"returned {answer.status} {answer.read(200)!r}"
        except (OSError, HTTPException) as error:
            said = f"did not respond ({error})"
        finally:
            connection.close()
        payment = newest()
        if payment and payment["id"] != (before or {}).get("id"):
            return payment
        raise GatewaySimError(f"{address} made no payment: it {said}. Initiate with {self.initiate_url}.")

    def sign_ipn(self, amount: str, identifier: str) -> str:
        """The signature of an IPN. `amount` is the text of `data[amount]`, exactly as sent."""
        return hmac.new(self.secret_key.encode(), (amount + identifier).encode(), hashlib.sha256).hexdigest().upper()

    def advance(self, duration: str) -> dict:
        """Advances the emulator's clock, for example by "2h", and runs what falls due."""
        return self._call("POST", "/_sim/clock", json.dumps({"advance": duration}))

    def reset(self) -> None:
        """Removes all payments and IPNs, but keeps the keys."""
        self._call("POST", "/_sim/reset", "{}")

    def _newest_ipn(self, reference, is_genuine=False):
        for ipn in self._call("GET", "/_sim/ipns?limit=200")["data"]:
            if reference in (ipn["id"], ipn["identifier"], ipn["paymentId"]) and not (is_genuine and ipn["tampered"]):
                return ipn
        return None

    def _without_ipn(self, reference, ipn):
        if ipn and ipn["underWay"]:
            return GatewaySimError(ipn["verdict"]["cause"])
        if ipn:
            return GatewaySimError(ipn["note"] or f"the IPN is due at {ipn['nextAttemptAt']}: call advance()")
        payments = self._call("GET", "/_sim/payments?limit=5")["data"]
        seen = ", ".join(f"{one['identifier']} is {one['status']}" for one in payments) or "nothing was initiated"
        return GatewaySimError(f"there is no IPN for {reference}: {seen}. Only approve() sends one.")

    def _settle(self, reference: str, outcome: str) -> dict:
        body = json.dumps({"outcome": outcome, "awaitDelivery": True})
        return self._call("POST", f"/_sim/payments/{quote(reference, safe='')}/settle", body)

    def _call(self, method: str, path: str, body: str = "") -> dict:
        token = self._environment.get("GATEWAY_SIM_CONTROL_TOKEN", "")
        kind = "application/json" if body.startswith("{") else "application/x-www-form-urlencoded"
        headers = {"Content-Type": kind, "Authorization": f"Bearer {token}"}
        address = urlsplit(self.url)
        connection = HTTPConnection(address.netloc, timeout=300)
        if address.scheme == "https":
            trusted = ssl.create_default_context(cafile=self._environment.get("GATEWAY_SIM_TLS_CA") or None)
            connection = HTTPSConnection(address.netloc, timeout=300, context=trusted)
        try:
            connection.request(method, address.path + path, body.encode() or None, headers)
            text = connection.getresponse().read()
        except (OSError, HTTPException) as error:
            raise GatewaySimError(f"no response from {self.url} ({error}): start the emulator, or unset GATEWAY_SIM_URL") from None
        finally:
            connection.close()
        try:
            answer = dict(json.loads(text))
        except (TypeError, ValueError):
            answer = {"error": f"{method} {self.url}{path} returned: {text[:200]!r}"}
        if "error" not in answer:
            return answer
        problems = answer.get("errors") or [answer.get("message", answer["error"])]
        raise GatewaySimError("; ".join(problems) + ". " + answer.get("remedy", "Check the request."))


def _is_delivered(ipn):
    return ipn["state"] == "delivered" and ipn["verdict"]["tone"] in ("good", "warning")


def _begin(options):
    """Starts an emulator that stops when its stdin closes, or when this process ends."""
    command = [*_program(), "exec", "--quiet", *options, "--", "node", "-e", PRINT_ENVIRONMENT]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    try:
        process = subprocess.Popen(command, **pipes, text=True)
    except OSError as error:
        advice = "install gateway-sim with npm, or set GATEWAY_SIM_BIN to the program, or GATEWAY_SIM_URL to an emulator"
        raise GatewaySimError(f"{command[0]} did not start ({error}): {advice}") from None
    output = ""
    for line in process.stdout:
        if line.startswith("{"):
            return json.loads(line), process
        output += line
    process.communicate()
    raise GatewaySimError(f"{' '.join(command[:3])} did not start: {output.strip()}")


def _program():
    named = os.environ.get("GATEWAY_SIM_BIN")
    if named:
        return ["node", named] if named.endswith(".js") else [named] if os.path.exists(named) else named.split()
    files = [folder / "node_modules/gateway-sim/bin/gateway-sim.js" for folder in Path(__file__).resolve().parents]
    return next((["node", str(file)] for file in files if file.exists()), ["gateway-sim"])


with suppress(ImportError):
    import pytest

    @pytest.fixture(scope="session")
    def gateway_sim():
        """One emulator for all tests."""
        with GatewaySim.start() as sim:
            yield sim
