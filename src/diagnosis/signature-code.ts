import type { Language } from './receiver-answer.ts';

/** The same code in each language. */
export type Code = Readonly<Record<Language, string>>;

/** @param php how PHP reads amount and identifier @param python how Python reads them */
const linesWith = (php: string, python: string, before = ''): Code => ({
  PHP: `${before}$expected = strtoupper(hash_hmac('sha256', ${php}, $secretKey));`,
  Node: "const expected = createHmac('sha256', secretKey).update(body.data.amount + body.identifier).digest('hex').toUpperCase();",
  Python: `expected = hmac.new(secret_key.encode(), (${python}).encode(), 'sha256').hexdigest().upper()`,
});

const OF_FORM: Code = linesWith(
  "$_POST['data']['amount'] . $_POST['identifier']",
  "form['data[amount]'] + form['identifier']",
);

const OF_JSON: Code = linesWith(
  "$body['data']['amount'] . $body['identifier']",
  "body['data']['amount'] + body['identifier']",
  "$body = json_decode(file_get_contents('php://input'), true); ",
);

/**
 * Code that computes the expected signature from the values as received. In PHP, `$_POST` has the fields of a form, but
 * not of JSON.
 *
 * @param body the body of the IPN, which may be JSON; default: a form
 */
export function signatureCode(body = ''): Code {
  return body.trimStart().startsWith('{') ? OF_JSON : OF_FORM;
}

/** The whole check: `signatureCode`, a comparison in constant time, and the response to a wrong signature. */
export function signatureCheck(body = ''): Code {
  const { PHP, Node, Python } = signatureCode(body);
  const isJson = body.trimStart().startsWith('{');
  return {
    PHP: `${PHP}\nif (!hash_equals($expected, (string) (${isJson ? '$body' : '$_POST'}['signature'] ?? ''))) { http_response_code(400); exit; }`,
    Node: `${Node}\nconst [one, other] = [String(body.signature), expected].map((text) => Buffer.from(text));\nif (one.length !== other.length || !timingSafeEqual(one, other)) return res.writeHead(400).end();`,
    Python: `${Python}\nif not hmac.compare_digest(expected.encode(), str(${isJson ? 'body' : 'form'}.get('signature')).encode()): return 'wrong signature', 400`,
  };
}
