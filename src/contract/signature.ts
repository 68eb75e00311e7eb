/** Names of the languages in which a merchant's code is shown. */
type Language = 'PHP' | 'Node' | 'Python';

/** The same code by language. */
export type Code = Readonly<Record<Language, string>>;

/** @param php how PHP gets at amount and identifier @param python how Python does */
const linesWith = (php: string, python: string, before = ''): Code => ({
  PHP: `${before}$expected = strtoupper(hash_hmac('sha256', ${php}, $secretKey));`,
  Node: "const expected = createHmac('sha256', secretKey).update(body.data.amount + body.identifier).digest('hex').toUpperCase();",
  Python: `expected = hmac.new(secret_key.encode(), (${python}).encode(), 'sha256').hexdigest().upper()`,
});

/** How a merchant's code computes the signature that an IPN must have, from the texts as they came. */
export const EXPECTED_SIGNATURE: Code = linesWith(
  "$_POST['data']['amount'] . $_POST['identifier']",
  "form['data[amount]'] + form['identifier']",
);

const OF_JSON: Code = linesWith(
  "$body['data']['amount'] . $body['identifier']",
  "body['data']['amount'] + body['identifier']",
  "$body = json_decode(file_get_contents('php://input'), true); ",
);

/** @param body of the IPN: PHP has the fields of a form in `$_POST`, and nothing of JSON */
export function expectedSignature(body: string): Code {
  return body.trimStart().startsWith('{') ? OF_JSON : EXPECTED_SIGNATURE;
}
