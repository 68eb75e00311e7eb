/** Languages of code examples. */
type Language = 'PHP' | 'Node' | 'Python';

/** The same code in each language. */
export type Code = Readonly<Record<Language, string>>;

/** @param php how PHP reads amount and identifier @param python how Python reads them */
const linesWith = (php: string, python: string, before = ''): Code => ({
  PHP: `${before}$expected = strtoupper(hash_hmac('sha256', ${php}, $secretKey));`,
  Node: "const expected = createHmac('sha256', secretKey).update(body.data.amount + body.identifier).digest('hex').toUpperCase();",
  Python: `expected = hmac.new(secret_key.encode(), (${python}).encode(), 'sha256').hexdigest().upper()`,
});

/** Code that computes the expected signature of an IPN from the values as received. */
export const EXPECTED_SIGNATURE: Code = linesWith(
  "$_POST['data']['amount'] . $_POST['identifier']",
  "form['data[amount]'] + form['identifier']",
);

const OF_JSON: Code = linesWith(
  "$body['data']['amount'] . $body['identifier']",
  "body['data']['amount'] + body['identifier']",
  "$body = json_decode(file_get_contents('php://input'), true); ",
);

/** @param body the body of the IPN: in PHP, `$_POST` has the fields of a form, but not of JSON */
export function expectedSignature(body: string): Code {
  return body.trimStart().startsWith('{') ? OF_JSON : EXPECTED_SIGNATURE;
}

const SIGN_AS_RECEIVED =
  'Sign the text of data.amount followed directly by identifier, both exactly as received.';
const USE_HMAC = 'Compute HMAC-SHA256 with the secret key as the key.';
const USE_OWN_KEY = "Sign with this merchant's secret key.";

/** Common mistakes that lead to a wrong signature, and the fix for each. */
export const SIGNATURE_MISTAKES = {
  'operands-swapped': SIGN_AS_RECEIVED,
  'amount-reformatted': SIGN_AS_RECEIVED,
  separator: SIGN_AS_RECEIVED,
  'whole-body': SIGN_AS_RECEIVED,
  'undefined-amount': 'Read the amount from data.amount: data[amount] in a form.',
  'currency-included': SIGN_AS_RECEIVED,
  'trx-instead-of-identifier': SIGN_AS_RECEIVED,
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

/** A key that code may sign with by mistake. */
export interface MisusedKey {
  mistake: Extract<SignatureMistake, 'public-key' | 'other-merchant-key'>;
  /** Such as `the public key`. */
  called: string;
  key: string;
}

/** The public key of a merchant, used instead of its secret key. */
export const publicKeyMisused = (key: string): MisusedKey => ({
  mistake: 'public-key',
  called: 'the public key',
  key,
});
