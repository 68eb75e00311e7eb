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

const SIGN_AS_THEY_CAME =
  'Sign the text of data.amount followed directly by identifier, exactly as they came.';
const USE_HMAC = 'Compute HMAC-SHA256 with the secret key as its key.';
const USE_OWN_KEY = "Sign with this merchant's secret key.";

/** The usual mistakes behind a wrong signature, and how to fix each. */
export const SIGNATURE_MISTAKES = {
  'operands-swapped': SIGN_AS_THEY_CAME,
  'amount-reformatted': SIGN_AS_THEY_CAME,
  separator: SIGN_AS_THEY_CAME,
  'whole-body': SIGN_AS_THEY_CAME,
  'undefined-amount': 'Read the amount from data.amount: data[amount] in a form.',
  'currency-included': SIGN_AS_THEY_CAME,
  'trx-instead-of-identifier': SIGN_AS_THEY_CAME,
  'hmac-arguments-swapped': USE_HMAC,
  'hash-without-hmac': USE_HMAC,
  'key-concatenated': USE_HMAC,
  sha1: USE_HMAC,
  sha512: USE_HMAC,
  md5: USE_HMAC,
  'lower-case': 'Write the digest as upper-case hexadecimal.',
  base64: 'Write the digest as upper-case hexadecimal.',
  'key-with-whitespace': 'Trim the secret key where you read it.',
  'public-key': USE_OWN_KEY,
  'other-merchant-key': USE_OWN_KEY,
} as const;
export type SignatureMistake = keyof typeof SIGNATURE_MISTAKES;

/** A key that somebody may have signed with in place of the secret key. */
export interface MisusedKey {
  mistake: Extract<SignatureMistake, 'public-key' | 'other-merchant-key'>;
  /** Such as `the public key`. */
  called: string;
  key: string;
}

/** The public key of a merchant, taken for its secret key. */
export const publicKeyMisused = (key: string): MisusedKey => ({
  mistake: 'public-key',
  called: 'the public key',
  key,
});
