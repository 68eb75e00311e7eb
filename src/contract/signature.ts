/** Names of the languages in which a merchant's code is shown. */
type Language = 'PHP' | 'Node' | 'Python';

/** The same code by language. */
export type Code = Readonly<Record<Language, string>>;

/** How a merchant's code computes the signature that an IPN must have, from the texts as they came. */
export const EXPECTED_SIGNATURE: Code = {
  PHP: "$expected = strtoupper(hash_hmac('sha256', $_POST['data']['amount'] . $_POST['identifier'], $secretKey));",
  Node: "const expected = createHmac('sha256', secretKey).update(body.data.amount + body.identifier).digest('hex').toUpperCase();",
  Python:
    "expected = hmac.new(secret_key.encode(), (form['data[amount]'] + form['identifier']).encode(), 'sha256').hexdigest().upper()",
};
