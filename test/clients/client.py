"""A shop with a hard-coded gateway host, like published clients.

It places one order, prints the outcome as a line of JSON with its port for the IPN, and then whether the order is
paid. ENCODING, JUDGE, READ_ERROR and RECEIVE choose its habits.
"""

import hashlib
import hmac
import json
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

GATEWAY = "https://pay.example.com"
SHOP = "https://shop.example"
ORDER, TOTAL = "PY-1001", os.environ.get("TOTAL", "49.90")
# Some shops use one browser page as ipn_url and success_url, and accept no POST.
IS_VISITED = os.environ["RECEIVE"] == "visit"
FIELDS = {
    "public_key": os.environ["PUBLIC_KEY"], "identifier": ORDER, "currency": "USD", "amount": TOTAL,
    "details": "Order 1001", "ipn_url": f"{SHOP}/ipn?order={ORDER}&from=gateway", "customer_name": "Ada",
    "success_url": f"{SHOP}/thanks?order={ORDER}", "cancel_url": f"{SHOP}/cart", "site_logo": f"{SHOP}/logo.png",
    "customer_email": "ada@example.com",
}


def multipart(fields):
    parts = [f'--XX\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()]
    return "".join(parts) + "--XX--\r\n"


ENCODINGS = {
    "urlencoded": ("application/x-www-form-urlencoded", urllib.parse.urlencode),
    "multipart": ("multipart/form-data; boundary=XX", multipart),
    "json": ("application/json", json.dumps),
}
JUDGES = {
    "success-ok": lambda answer: answer.get("success") == "ok",
    "success-present": lambda answer: "success" in answer,
    "url-alone": lambda answer: bool(answer.get("url")),
    "error-truthy": lambda answer: not answer.get("error"),
    "error-named": lambda answer: str(answer.get("error")).lower() not in ("true", "yes", "1"),
}
READERS = {
    "message": lambda answer: answer.get("message"),
    "error-first": lambda answer: answer.get("error") or answer.get("message"),
    "errors-first": lambda answer: "; ".join(answer["errors"]) if answer.get("errors") else answer.get("message"),
}
RECEIVERS = {
    "bracket-keys": lambda body: dict(urllib.parse.parse_qsl(body)),
    "nested": lambda body: {
        re.sub(r"^(\w+)\[(\w+)\](?:\[(\w+)\])?$", lambda m: f"{m[1]}[{m[2]}]" + (f"[{m[3]}]" if m[3] else ""), name): values[0]
        for name, values in urllib.parse.parse_qs(body, keep_blank_values=True).items()
    },
    "json": lambda body: {f"data[{name}]": value for name, value in json.loads(body)["data"].items()}
    | {name: value for name, value in json.loads(body).items() if name != "data"},
}


def place():
    content_type, encode = ENCODINGS[os.environ["ENCODING"]]
    path = "/sandbox/payment/initiate"
    request = urllib.request.Request(GATEWAY + path, encode(FIELDS).encode(), {"Content-Type": content_type})
    try:
        with urllib.request.urlopen(request) as response:
            answer = json.load(response)
    except urllib.error.HTTPError as error:
        return {"refused": f"HTTP {error.code}"}
    if JUDGES[os.environ["JUDGE"]](answer):
        return {"redirect": answer["url"], "port": receiver.server_port}
    return {"refused": READERS[os.environ["READ_ERROR"]](answer)}


if IS_VISITED:
    FIELDS["ipn_url"] = FIELDS["success_url"]
said = []


def say(line):
    said.append(line)
    print(json.dumps(line), flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        say({"paid": self.path == f"/thanks?order={ORDER}", "host": self.headers["Host"]})

    def do_POST(self):
        if IS_VISITED:
            return self.send_error(405)
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        ipn = RECEIVERS[os.environ["RECEIVE"]](body)
        text = ipn["data[amount]"] + ipn["identifier"]
        expected = hmac.new(os.environ["SECRET_KEY"].encode(), text.encode(), hashlib.sha256).hexdigest().upper()
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        is_paid = (
            hmac.compare_digest(ipn["signature"], expected)
            and ipn["status"] == "success"
            and ipn["identifier"] == ORDER
            and abs(float(ipn["data[amount]"]) - float(TOTAL)) < 0.011
            and query.get("from") == ["gateway"]
        )
        self.send_response(200 if is_paid else 400)
        self.end_headers()
        self.wfile.write(b"OK")
        say({"paid": is_paid, "host": self.headers["Host"]})

    def log_message(self, *_):
        pass


receiver = HTTPServer(("127.0.0.1", 0), Receiver)
say(place())
while "redirect" in said[-1]:
    receiver.handle_request()
