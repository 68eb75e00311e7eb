"""Initiates payments and verifies their IPNs, with the standard library only. Ship this file with your shop.

An order has `identifier`, `token`, `amount` and `currency`, as text.
"""

import hashlib
import hmac
import json
import os
import secrets
from urllib.parse import parse_qsl, urlencode
from urllib.request import urlopen


def new_order(amount, currency):
    """An order, to be stored before its payment is initiated. Forged IPNs cannot guess the token."""
    return {"identifier": secrets.token_hex(10), "token": secrets.token_hex(16), "amount": amount, "currency": currency}


def initiate(order, shop, **fields):
    """Initiates the payment of an order. Returns the URL where the customer pays. `shop` is your own address."""
    values = {
        "public_key": variable("GATEWAY_SIM_PUBLIC_KEY"),
        "identifier": order["identifier"],
        "amount": order["amount"],
        "currency": order["currency"],
        "ipn_url": f"{shop}/ipn?token={order['token']}",
        "success_url": f"{shop}/orders/{order['identifier']}",
        "cancel_url": shop,
        "site_logo": f"{shop}/logo.png",
    }
    with urlopen(variable("GATEWAY_SIM_INITIATE_URL"), urlencode(values | fields).encode()) as response:
        answer = json.load(response)
    if "url" not in answer:
        raise RuntimeError(f"the payment was not initiated: {answer.get('message')}")
    return answer["url"]


def is_paid(order, fields, token):
    """Whether an IPN with these fields, at an `ipn_url` with this token, pays the order. `order` may be None."""
    if not order or not is_genuine(fields, variable("GATEWAY_SIM_SECRET_KEY")):
        return False
    is_order = fields["identifier"] == order["identifier"] and is_same(token or "", order["token"])
    is_amount = float(fields["data[amount]"]) == float(order["amount"])
    return is_order and is_amount and fields.get("data[currency][code]") == order["currency"]


def is_genuine(fields, secret_key):
    """Whether the gateway signed the IPN of a successful payment. It may belong to another order, or to none."""
    signed = fields.get("data[amount]", "") + fields.get("identifier", "")
    expected = hmac.new(secret_key.encode(), signed.encode(), hashlib.sha256).hexdigest().upper()
    return is_same(fields.get("signature", ""), expected) and fields.get("status") == "success"


def is_same(one, other):
    """Compares in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())


def variable(name):
    value = os.environ.get(name)
    if not value:
        raise RuntimeError(f"{name} is not set: run your program with `npx gateway-sim exec -- <command>`, or set it")
    return value


def create_app(secret_key):
    """A WSGI application for the first test. Replace it with your own, such as a Flask or Django app."""

    def app(environ, start_response):
        length = environ.get("CONTENT_LENGTH") or ""
        body = environ["wsgi.input"].read(min(int(length), 65536) if length.isdecimal() else 0)
        is_valid = is_genuine(dict(parse_qsl(body.decode(errors="replace"), keep_blank_values=True)), secret_key)
        start_response("200 OK" if is_valid else "400 Bad Request", [("Content-Type", "text/plain")])
        return [b"OK" if is_valid else b"refused"]

    return app
