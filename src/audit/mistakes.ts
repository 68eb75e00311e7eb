import type { Code } from '../diagnosis/signature-code.ts';

/** How to fix a mistake, in words and in code. */
export interface Fix {
  text: string;
  /**
   * Works on its own, in the place that the text names, and does not throw on an unknown order. May depend on the code
   * that computes the expected signature.
   */
  code?: Code | ((expected: Code) => Code);
}

const WHOLE: Code = {
  PHP: `foreach ([$_POST['status'] ?? null, $_POST['identifier'] ?? null, $_POST['signature'] ?? null, $_POST['data']['amount'] ?? null] as $v) if (!is_string($v) || $v === '') { http_response_code(400); exit; }`,
  Node: `if (![body?.status, body?.identifier, body?.signature, body?.data?.amount].every((v) => typeof v === 'string' && v !== '')) return refuse();`,
  Python: `if not all(isinstance(form.get(name), str) and form[name] for name in ('status', 'identifier', 'signature', 'data[amount]')): return refuse()`,
};

const signed = (expected: Code): Code => ({
  PHP: `// $secretKey: your secret key, which must not be empty\n${WHOLE.PHP}\n${expected.PHP}\nif (!hash_equals($expected, $_POST['signature'])) { http_response_code(400); exit; }`,
  Node: `// body: the form with nested fields, as express.urlencoded({ extended: true }) reads it; createHmac and timingSafeEqual are from node:crypto\n${WHOLE.Node}\n${expected.Node}\nconst [one, other] = [body.signature, expected].map((text) => Buffer.from(text));\nif (one.length !== other.length || !timingSafeEqual(one, other)) return refuse();`,
  Python: `# form: the flat fields, as request.form of Flask; hmac and hashlib are modules of Python\n${WHOLE.Python}\n${expected.Python}\nif not hmac.compare_digest(expected.encode(), form['signature'].encode()): return refuse()`,
});

/** The fix of each mistake, and its effort, estimated for a shop of typical size. */
export const MISTAKES = {
  'signature-not-checked': {
    text: 'For every request, once its fields are known to be texts, compute the HMAC over the very data.amount and identifier that you use, as received, and compare all of it, in constant time. Reject the IPN if it does not match, and every method but POST. No flag, header, method or content type may skip this check.',
    effort: 'a few lines in the IPN handler',
    code: signed,
  },
  'fields-not-required': {
    text: 'Before you check the signature, reject IPNs whose fields are missing, empty or not strings.',
    effort: 'one line in the IPN handler',
    code: WHOLE,
  },
  'secret-known': {
    text: 'Read the secret key from the configuration, reject every IPN if no key is set, and accept no other key.',
    effort: 'a new secret key, and a few lines in the configuration',
    code: (expected) => ({
      PHP: `$secretKey = getenv('GATEWAY_SECRET_KEY'); if (!$secretKey) { http_response_code(500); exit; }\n${signed(expected).PHP}`,
      Node: `const secretKey = process.env.GATEWAY_SECRET_KEY; if (!secretKey) throw new Error('no secret key');\n${signed(expected).Node}`,
      Python: `secret_key = os.environ['GATEWAY_SECRET_KEY']\nif not secret_key: raise RuntimeError('no secret key')\n${signed(expected).Python}`,
    }),
  },
  'amount-not-compared': {
    text: 'The amount (as a number) and the currency must equal those of your own order exactly: no tolerance, no rounding, no charge, no sum of several IPNs. Read each field once, and use that value for the signature, too. Only the amount is signed, and it states what was paid, not what was owed. Take the price from your own database, and let no posted field overwrite it: no extract(), no merging of fields into the order.',
    effort: 'one line in the IPN handler',
    code: {
      PHP: `if (!$order || !is_numeric($_POST['data']['amount'] ?? null) || (float) $_POST['data']['amount'] !== (float) $order['total'] || ($_POST['data']['currency']['code'] ?? null) !== $order['currency']) { http_response_code(400); exit; }`,
      Node: `if (!order || Number(body.data?.amount) !== Number(order.total) || body.data.currency?.code !== order.currency) return refuse();`,
      Python: `if order is None or float(form.get('data[amount]') or 'nan') != float(order['total']) or form.get('data[currency][code]') != order['currency']: return refuse()`,
    },
  },
  'order-not-by-identifier': {
    text: 'Find the order by its exact signed identifier, and never by the query string.',
    effort: 'a few lines in the IPN handler',
    code: {
      PHP: `$order = find_order($_POST['identifier']); if (!$order || $order['identifier'] !== $_POST['identifier']) { http_response_code(404); exit; }`,
      Node: `const order = orders.get(body.identifier); if (!order || order.identifier !== body.identifier) return refuse();`,
      Python: `order = orders.get(form['identifier'])\nif order is None or order['identifier'] != form['identifier']: return refuse()`,
    },
  },
  'no-token-in-ipn-url': {
    text: 'Put an unguessable token in the ipn_url, store it with the order, and check it in the handler: the signature covers neither the mode nor where the amount ends.',
    effort: 'a database column, and a few lines where you initiate payments and in the IPN handler',
    code: {
      PHP: `$order['token'] = bin2hex(random_bytes(16)); $fields['ipn_url'] = "$base/ipn?token={$order['token']}"; // when you initiate\nif (empty($order['token']) || !hash_equals($order['token'], (string) ($_GET['token'] ?? ''))) { http_response_code(404); exit; } // in the handler`,
      Node: `order.token = randomBytes(16).toString('hex'); fields.ipn_url = \`\${base}/ipn?token=\${order.token}\`; // when you initiate\nif (!order?.token || url.searchParams.get('token') !== order.token) return refuse(); // in the handler`,
      Python: `order['token'] = secrets.token_hex(16); fields['ipn_url'] = f"{base}/ipn?token={order['token']}"  # when you initiate\nif not order or not order['token'] or not hmac.compare_digest(order['token'].encode(), query.get('token', '').encode()): return refuse()  # in the handler`,
    },
  },
  'token-not-checked': {
    text: 'Compare the token in the request with the token stored with this very order. Reject an IPN without a token, or with that of another order, and every IPN for an order that has none.',
    effort: 'one line in the IPN handler',
    code: {
      PHP: `if (empty($order['token']) || !hash_equals($order['token'], (string) ($_GET['token'] ?? ''))) { http_response_code(404); exit; }`,
      Node: `if (!order?.token || url.searchParams.get('token') !== order.token) return refuse();`,
      Python: `if not order or not order['token'] or not hmac.compare_digest(order['token'].encode(), query.get('token', '').encode()): return refuse()`,
    },
  },
  'effects-before-checks': {
    text: 'Do nothing before every check has passed: send e-mails, reserve stock and deliver only after the signature, the order, the amount and the currency are right.',
    effort: 'moving a few lines in the IPN handler',
  },
  'return-page-pays': {
    text: 'Remove the code with which the return page changes the order: only an IPN may. The page shows the status.',
    effort: 'a few lines in the return page',
    code: {
      PHP: `exit(($order['status'] ?? '') === 'paid' ? 'Thank you' : 'We are waiting for the confirmation of your payment');`,
      Node: `return res.end(order?.status === 'paid' ? 'Thank you' : 'We are waiting for the confirmation of your payment');`,
      Python: `return 'Thank you' if order and order['status'] == 'paid' else 'We are waiting for the confirmation of your payment'`,
    },
  },
  'status-not-checked': {
    text: 'Check the signature first: an IPN that you reject changes nothing. Only the status success marks an order as paid. No other status may change an order, least of all a paid one.',
    effort: 'one line in the IPN handler',
    code: {
      PHP: `if (!$order) { http_response_code(404); exit; }\nif (($_POST['status'] ?? '') !== 'success' || $order['status'] !== 'pending') { http_response_code(200); exit; }`,
      Node: `if (!order) return refuse();\nif (body.status !== 'success' || order.status !== 'pending') return accept();`,
      Python: `if order is None: return refuse()\nif form.get('status') != 'success' or order['status'] != 'pending': return accept()`,
    },
  },
  'paid-more-than-once': {
    text: 'Wherever your shop marks an order as paid, use one conditional database update, and fulfill the order only if that update changed the row. It must match only unpaid orders, so that shipped or refunded ones stay as they are. A copy of an IPN must change nothing else. Without a database, check and set the status in one step, with nothing awaited between them.',
    effort: 'one database query',
    code: {
      PHP: `$pay = $db->prepare("UPDATE orders SET status = 'paid' WHERE identifier = ? AND status = 'pending'"); $pay->execute([$identifier]); if ($pay->rowCount() === 1) fulfill($order);`,
      Node: `const { rowCount } = await db.query("UPDATE orders SET status = 'paid' WHERE identifier = $1 AND status = 'pending'", [identifier]); if (rowCount === 1) await fulfill(order);`,
      Python: `cursor.execute("UPDATE orders SET status = 'paid' WHERE identifier = ? AND status = 'pending'", (identifier,))\nif cursor.rowcount == 1: fulfill(order)`,
    },
  },
  'state-shared': {
    text: 'Keep the IPN that is being handled in local variables of the handler, and not in variables of the module, the class or the server: two IPNs are handled at the same time.',
    effort: 'moving a few lines in the IPN handler',
  },
  'headers-trusted': {
    text: 'Delete the code that skips the signature check for certain headers or addresses, such as X-Forwarded-For or Origin: anyone can set them. Only the signature proves the sender.',
    effort: 'a few lines in the IPN handler',
    code: signed,
  },
  'input-not-escaped': {
    text: 'Reject control characters, bind values as SQL parameters, escape output, and use a fixed text for error responses.',
    effort: 'a review of the queries and pages that use the IPN',
    code: {
      PHP: `if (preg_match('/[\\x00-\\x1f]/', $identifier)) { http_response_code(400); exit('rejected'); }\n$find = $db->prepare('SELECT * FROM orders WHERE identifier = ?'); $find->execute([$identifier]); $order = $find->fetchAll()[0] ?? null;\nif (!$order) { http_response_code(404); exit('rejected'); }`,
      Node: `if (/[\\x00-\\x1f]/.test(identifier)) return res.writeHead(400).end('rejected');\nconst { rows: [order] } = await db.query('SELECT * FROM orders WHERE identifier = $1', [identifier]);\nif (!order) return res.writeHead(404).end('rejected');`,
      Python: `if not identifier.isprintable(): return 'rejected', 400\norder = cursor.execute('SELECT * FROM orders WHERE identifier = ?', (identifier,)).fetchone()\nif order is None: return 'rejected', 404`,
    },
  },
  'secrets-shown': {
    text: 'Log errors on the server, respond with a fixed text, and never print a key or the expected signature.',
    effort: 'a setting of the shop',
    code: {
      PHP: `ini_set('display_errors', '0'); http_response_code(400); exit('rejected');`,
      Node: `return res.writeHead(400).end('rejected'); // log the details with console.error(error)`,
      Python: `return 'rejected', 400  # log the details with app.logger.exception(error)`,
    },
  },
  'initiate-from-outside': {
    text: 'Initiate payments on the server. Read the total and currency from the database, and the keys and the address of your shop from the configuration. No URL may contain a key, and ipn_url must have no other use.',
    effort: 'a few lines where you initiate payments',
    code: {
      PHP: `$fields = ['amount' => $order['total'], 'currency' => $order['currency'], 'ipn_url' => "$base/ipn?token={$order['token']}", 'success_url' => "$base/thanks?order={$order['identifier']}", 'site_logo' => "$base/logo.png"] + $fields;`,
      Node: `Object.assign(fields, { amount: order.total, currency: order.currency, ipn_url: \`\${base}/ipn?token=\${order.token}\`, success_url: \`\${base}/thanks?order=\${order.identifier}\`, site_logo: \`\${base}/logo.png\` });`,
      Python: `fields |= {'amount': order['total'], 'currency': order['currency'], 'ipn_url': f"{base}/ipn?token={order['token']}", 'success_url': f"{base}/thanks?order={order['identifier']}", 'site_logo': f'{base}/logo.png'}`,
    },
  },
  'payments-lost': {
    text: 'Compare the amount as a decimal number, or in cents that are rounded and not cut off. Decode the body once, and find the order by the identifier exactly as you sent it: a plus sign, a space, % and & are part of it. Store the payment before you answer.',
    effort: 'a few lines in the IPN handler',
  },
  'handler-breaks': {
    text: 'Accept the POST without a session, login or CSRF token. Ignore unknown fields, and catch every error, including a truncated body. Answer 2xx within two seconds if you accept the IPN, and 4xx if you reject it.',
    effort: 'a review of the IPN handler',
  },
} as const satisfies Record<string, Fix & { effort: string }>;

export type MistakeName = keyof typeof MISTAKES;

/** The effort to fix a mistake of a report. */
export function effortOf(name: string): string {
  return Object.hasOwn(MISTAKES, name) ? MISTAKES[name as MistakeName].effort : 'effort unknown';
}
