"""Replace this with your own IPN handler: a WSGI application, such as a Flask or Django app."""

import hashlib
import hmac
from urllib.parse import parse_qsl


def create_app(secret_key):
    def app(environ, start_response):
        length = environ.get("CONTENT_LENGTH") or ""
        body = environ["wsgi.input"].read(min(int(length), 65536) if length.isdecimal() else 0)
        fields = dict(parse_qsl(body.decode(errors="replace"), keep_blank_values=True))
        signed = fields.get("data[amount]", "") + fields.get("identifier", "")
        expected = hmac.new(secret_key.encode(), signed.encode(), hashlib.sha256).hexdigest().upper()
        is_signed = hmac.compare_digest(fields.get("signature", "").encode(), expected.encode())
        is_genuine = is_signed and fields.get("status") == "success"
        start_response("200 OK" if is_genuine else "400 Bad Request", [("Content-Type", "text/plain")])
        return [b"OK" if is_genuine else b"refused"]

    return app
