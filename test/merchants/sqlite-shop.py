"""A shop whose orders are rows in SQLite. FLAW: mail (each copy of an IPN sends a mail), stock, unsigned, float (signs
49.9 for 49.90), silent (answers 200 to everything), failing (answers 500 to everything), early (takes the stock
before the checks), return (only the return page pays)."""

import hashlib
import hmac
import json
import os
import secrets
import sqlite3
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import sleep, strftime
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

FLAW = os.environ.get("FLAW", "")
KEY = os.environ["GATEWAY_SIM_SECRET_KEY"].encode()


def database():
    connection = sqlite3.connect(os.environ["DB"], timeout=5)
    connection.row_factory = sqlite3.Row
    return connection


with database() as db:
    db.executescript("""
        CREATE TABLE products (id INTEGER PRIMARY KEY, stock INTEGER);
        CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, identifier TEXT, token TEXT, total TEXT, status TEXT,
            meta TEXT, updated_at TEXT);
        CREATE TABLE mails (id INTEGER PRIMARY KEY, order_id INTEGER, recipient TEXT);
        CREATE TABLE ipn_log (id INTEGER PRIMARY KEY, reference TEXT, body TEXT, at TEXT);
        CREATE TABLE counters (requests INTEGER);
        CREATE TRIGGER paid AFTER UPDATE OF status ON orders WHEN new.status = 'paid'
            BEGIN UPDATE products SET stock = stock - 1; END;
        INSERT INTO products VALUES (1, 1000);
        INSERT INTO counters VALUES (0);
    """)


def send_mail(order):
    sleep(float(os.environ.get("LATE", "0")))
    with database() as db:
        db.execute("INSERT INTO mails (order_id, recipient) VALUES (?, 'ann@example.com')", (order,))


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, text):
        if "silent" in FLAW:
            status, text = 200, ""
        if "failing" in FLAW:
            status, text = 500, "<p>There has been a critical error on this website.</p>"
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        if "return" in FLAW and self.path == "/thanks":
            with database() as db:
                db.execute("UPDATE orders SET status = 'paid'")
        self.answer(200, "hello")

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        with database() as db:
            db.execute("UPDATE counters SET requests = requests + 1")
        if self.path == "/order":
            self.place()
        else:
            self.receive(raw)

    def place(self):
        base = f"http://127.0.0.1:{self.server.server_port}"
        identifier, token = secrets.token_hex(10), secrets.token_hex(16)
        with database() as db:
            db.execute(
                "INSERT INTO orders (identifier, token, total, status, meta, updated_at) VALUES (?, ?, '49.90', 'pending', ?, ?)",
                (identifier, token, json.dumps({"channel": "web"}), strftime("%Y-%m-%d %H:%M:%S")),
            )
        fields = {
            "public_key": os.environ["GATEWAY_SIM_PUBLIC_KEY"], "identifier": identifier, "currency": "USD",
            "amount": "49.90", "details": "Tea", "ipn_url": f"{base}/ipn?token={token}",
            "success_url": f"{base}/thanks", "cancel_url": f"{base}/", "site_logo": f"{base}/logo.png",
            "customer_name": "Ann", "customer_email": "ann@example.com",
        }
        urllib.request.urlopen(os.environ["GATEWAY_SIM_INITIATE_URL"], urlencode(fields).encode())
        self.answer(200, "ordered")

    def receive(self, raw):
        form = dict(parse_qsl(raw))
        amount, identifier = form.get("data[amount]", ""), form.get("identifier", "")
        with database() as db:
            db.execute(
                "INSERT INTO ipn_log (reference, body, at) VALUES (?, ?, ?)",
                (identifier, raw, strftime("%Y-%m-%d %H:%M:%S")),
            )
        if "return" in FLAW:
            return self.answer(200, "OK")
        if "early" in FLAW:
            with database() as db:
                db.execute("UPDATE products SET stock = stock - 1")
        signed = f"{float(amount or 0)}" if "float" in FLAW else amount
        expected = hmac.new(KEY, (signed + identifier).encode(), hashlib.sha256).hexdigest().upper()
        if "unsigned" not in FLAW and not hmac.compare_digest(expected, form.get("signature", "")):
            return self.answer(401, "rejected")
        with database() as db:
            order = db.execute("SELECT * FROM orders WHERE identifier = ?", (identifier,)).fetchone()
            token = parse_qs(urlsplit(self.path).query).get("token", [""])[0]
            if order is None or order["token"] != token or amount != order["total"] or form.get("status") != "success":
                return self.answer(400, "rejected")
            paid = db.execute(
                "UPDATE orders SET status = 'paid', updated_at = ? WHERE id = ? AND status = 'pending'",
                (strftime("%Y-%m-%d %H:%M:%S"), order["id"]),
            ).rowcount
            if "stock" in FLAW and not paid:
                db.execute("UPDATE products SET stock = stock - 1")
        if paid or "mail" in FLAW:
            Thread(target=send_mail, args=(order["id"],)).start()
        self.answer(200, "OK")


ThreadingHTTPServer.request_queue_size = 64
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"port {server.server_port}", flush=True)
server.serve_forever()
