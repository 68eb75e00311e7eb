"""A shop in Python: correct, or with one flaw of a class of `gateway-sim audit`.

SHOP_FLAW=<class> python3 shop.py: listens on a free port and prints its address. An empty class means no flaw.
The code of a fix is inserted at the line `# fix: <place>`.
GATEWAY_SIM_INITIATE_URL, GATEWAY_SIM_PUBLIC_KEY and GATEWAY_SIM_SECRET_KEY name the emulator.
"""

import hashlib
import hmac
import json
import os
import re
import secrets
import threading
import time
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOTAL, CURRENCY = "49.90", "USD"
FIELDS = ("status", "signature", "identifier", "data[amount]", "data[currency][code]")
LIMIT = 100 * 1024
PUBLIC, SECRET = os.environ["GATEWAY_SIM_PUBLIC_KEY"], os.environ["GATEWAY_SIM_SECRET_KEY"]
FLAW = os.environ["SHOP_FLAW"]
orders, lock = {}, threading.Lock()


def sign(amount, identifier, secret=SECRET):
    return hmac.new(secret.encode(), (amount + identifier).encode(), hashlib.sha256).hexdigest().upper()


def place(base):
    identifier = f"S-{len(orders)}" if FLAW == "splice" else secrets.token_hex(10)
    token = secrets.token_hex(16)
    order = {"identifier": identifier, "total": TOTAL, "currency": CURRENCY, "token": token, "status": "pending", "effects": 0}
    orders[identifier] = order
    ipn_url = f"{base}/ipn?token={token}&order={identifier}"
    fields = {
        "public_key": PUBLIC, "identifier": identifier, "currency": CURRENCY, "amount": TOTAL,
        "details": "Two paperbacks", "ipn_url": ipn_url, "cancel_url": f"{base}/cart",
        "success_url": ipn_url if FLAW == "M" else f"{base}/thanks?order={identifier}",
        "site_logo": f"{base}/logo.png", "customer_name": "Ada", "customer_email": "ada@example.com",
    }
    # fix: initiate
    body = urllib.parse.urlencode(fields).encode()
    with urllib.request.urlopen(os.environ["GATEWAY_SIM_INITIATE_URL"], body) as answer:
        if json.load(answer).get("success") != "ok":
            raise RuntimeError("the order was refused")


def is_signed(form, headers):
    amount, identifier, signature = (form.get(name, "") for name in ("data[amount]", "identifier", "signature"))
    if FLAW == "A":
        return True
    if FLAW == "B" and signature in ("", "null"):
        return True
    if FLAW == "C" and signature == sign(amount, identifier, ""):
        return True
    if FLAW == "H" and form.get("status") != "success":
        return True
    if FLAW == "I" and headers.get("X-Forwarded-For") == "127.0.0.1":
        return True
    if FLAW == "J" and re.fullmatch(r"0e\d+", signature):
        return True
    return hmac.compare_digest(signature.encode(), sign(amount, identifier).encode())


def pay(order):
    if FLAW == "once":
        was = order["status"]
        time.sleep(0.03)
        if was != "paid":
            order.update(status="paid", effects=order["effects"] + 1)
        else:
            order["effects"] += 1
        return
    with lock:
        if order["status"] != "paid":
            order.update(status="paid", effects=order["effects"] + 1)


def find(form, query):
    if FLAW == "E":
        return orders.get(query.get("order", ""))
    if FLAW == "K" and "'" in form["identifier"]:
        raise RuntimeError("unrecognized token in SQL")
    return orders.get(form["identifier"])


def refuse():
    return "rejected", 400


def accept():
    return "noted", 200


def handle(raw, query, headers):
    """The response to an IPN: text and status."""
    secret_key = SECRET
    fields = urllib.parse.parse_qs(raw.decode("utf-8", "replace"), keep_blank_values=True)
    form = {name: values[0] for name, values in fields.items() if len(values) == 1}
    # fix: first
    needed = ("identifier", "data[amount]") if FLAW in ("A", "B", "H") else FIELDS
    if any(not form.get(name) for name in needed) or not is_signed(form, headers):
        # fix: refuse
        if FLAW == "L":
            return sign(form.get("data[amount]", ""), form.get("identifier", "")), 400
        return refuse()
    order = find(form, query)
    # fix: order
    if order is None:
        return refuse()
    if FLAW not in ("G", "splice") and not hmac.compare_digest(order["token"], query.get("token", "")):
        return refuse()
    if form.get("status") != "success" and FLAW != "robustness":
        if FLAW == "H":
            order["status"] = "failed"
        return accept()
    is_total = form.get("data[amount]") == TOTAL and form.get("data[currency][code]") == CURRENCY
    if not is_total and FLAW != "D":
        return refuse()
    pay(order)
    return "OK", 200


def thanks(order):
    # fix: return
    if FLAW == "F" and order:
        pay(order)
    return "thank you"


def query_of(address):
    return dict(urllib.parse.parse_qsl(address.query))


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, text=""):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def base(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def do_GET(self):
        address = urllib.parse.urlsplit(self.path)
        if address.path.startswith("/orders/"):
            order = orders.get(urllib.parse.unquote(address.path[8:]), {"status": "unknown"})
            shown = {name: value for name, value in order.items() if name != "token"}
            return self.answer(200, json.dumps(shown))
        if address.path == "/thanks":
            return self.answer(200, thanks(orders.get(query_of(address).get("order", ""))))
        return self.answer(405)

    def do_POST(self):
        address = urllib.parse.urlsplit(self.path)
        if address.path == "/order":
            place(self.base())
            return self.answer(200, "ordered")
        size = self.headers.get("Content-Length")
        if address.path != "/ipn" or size is None or int(size) > LIMIT:
            return self.answer(404 if address.path != "/ipn" else 411 if size is None else 413)
        try:
            text, status = handle(self.rfile.read(int(size)), query_of(address), self.headers)
        except RuntimeError as error:
            return self.answer(500, str(error))
        return self.answer(status, text)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(f"http://127.0.0.1:{server.server_port}", flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    pass
