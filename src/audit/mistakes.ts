import { type Code, EXPECTED_SIGNATURE } from '../contract/signature.ts';
import { namesOf } from '../contract/vocabulary.ts';
import type { Observation } from './client.ts';

/** How to fix a mistake, in words and in code. */
interface Fix {
  text: string;
  code: Code;
}

const SIGNED: Code = {
  PHP: `${EXPECTED_SIGNATURE.PHP} if (!hash_equals($expected, $_POST['signature'])) { http_response_code(400); exit; }`,
  Node: `${EXPECTED_SIGNATURE.Node} if (signature.length !== expected.length || !timingSafeEqual(Buffer.from(signature), Buffer.from(expected))) return refuse();`,
  Python: `${EXPECTED_SIGNATURE.Python}\nif not hmac.compare_digest(expected, signature): return refuse()`,
};

const FIXES = {
  'signature-not-checked': {
    text: 'Compute the HMAC over data.amount and identifier as received, and compare it in constant time. Reject the IPN if it does not match.',
    code: SIGNED,
  },
  'fields-not-required': {
    text: 'Before you check the signature, reject IPNs whose fields are missing, empty or not text.',
    code: {
      PHP: `foreach ([$_POST['status'] ?? null, $_POST['identifier'] ?? null, $_POST['signature'] ?? null, $_POST['data']['amount'] ?? null] as $v) if (!is_string($v) || $v === '') { http_response_code(400); exit; }`,
      Node: `if (![status, identifier, signature, amount].every((v) => typeof v === 'string' && v !== '')) return refuse();`,
      Python: `if not all(isinstance(v, str) and v for v in (status, identifier, signature, amount)): return refuse()`,
    },
  },
  'secret-known': {
    text: 'Read the secret key from the configuration, and reject every IPN if there is none.',
    code: {
      PHP: `$secretKey = getenv('GATEWAY_SECRET_KEY'); if (!is_string($secretKey) || strlen($secretKey) < 20) { http_response_code(500); exit; }`,
      Node: `const secretKey = process.env.GATEWAY_SECRET_KEY; if (!secretKey || secretKey.length < 20) throw new Error('no secret key');`,
      Python: `secret_key = os.environ['GATEWAY_SECRET_KEY']\nassert len(secret_key) >= 20`,
    },
  },
  'amount-not-compared': {
    text: 'Compare the amount (as a decimal) and the currency with your own order, and reject anything else. Only the amount is signed, and it states what was paid, not what was owed.',
    code: {
      PHP: `if (bccomp($_POST['data']['amount'], $order->total, 8) !== 0 || $_POST['data']['currency']['code'] !== $order->currency) { http_response_code(400); exit; }`,
      Node: `if (!new Big(amount).eq(order.total) || currency !== order.currency) return refuse();`,
      Python: `if Decimal(amount) != order.total or currency != order.currency: return refuse()`,
    },
  },
  'order-not-by-identifier': {
    text: 'Find the order by its exact signed identifier, and never by the query string.',
    code: {
      PHP: `$order = find_order($_POST['identifier']); if (!$order || $order->identifier !== $_POST['identifier']) { http_response_code(404); exit; }`,
      Node: `const order = orders.get(identifier); if (!order || order.identifier !== identifier) return refuse();`,
      Python: `order = orders.get(identifier)\nif order is None or order.identifier != identifier: return refuse()`,
    },
  },
  'no-token-in-ipn-url': {
    text: 'Put an unguessable token into the ipn_url, store it with the order, and check it. The signature does not cover the mode, and does not separate amount from identifier. Identifiers of exactly 20 characters also prevent splicing; the token prevents both.',
    code: {
      PHP: `if (!hash_equals($order->ipn_token, (string) ($_GET['token'] ?? ''))) { http_response_code(404); exit; }`,
      Node: `if (!sameText(order.ipnToken, url.searchParams.get('token') ?? '')) return refuse();`,
      Python: `if not hmac.compare_digest(order.ipn_token, request.args.get('token', '')): return refuse()`,
    },
  },
  'return-page-pays': {
    text: 'Use the return page only to show the status of the order. Only an IPN may change it.',
    code: {
      PHP: `echo $order->paid ? 'Thank you' : 'We are waiting for the confirmation of your payment';`,
      Node: `res.end(order.paid ? 'Thank you' : 'We are waiting for the confirmation of your payment');`,
      Python: `return 'Thank you' if order.paid else 'We are waiting for the confirmation of your payment'`,
    },
  },
  'status-not-checked': {
    text: 'Check the signature first. Only the status success pays an order. No other status may change an order, least of all a paid one.',
    code: {
      PHP: `if ($_POST['status'] !== 'success' || $order->paid) { http_response_code(200); exit; }`,
      Node: `if (status !== 'success' || order.paid) return accept();`,
      Python: `if status != 'success' or order.paid: return accept()`,
    },
  },
  'paid-more-than-once': {
    text: 'Mark the order as paid with one conditional update in the database, and fulfill it only if that update changed the row.',
    code: {
      PHP: `$pay = $db->prepare('UPDATE orders SET paid = 1 WHERE id = ? AND paid = 0'); $pay->execute([$id]); if ($pay->rowCount() === 1) fulfil($order);`,
      Node: `const { rowCount } = await db.query('UPDATE orders SET paid = true WHERE id = $1 AND NOT paid', [id]); if (rowCount === 1) await fulfil(order);`,
      Python: `cursor.execute('UPDATE orders SET paid = 1 WHERE id = ? AND paid = 0', (id,))\nif cursor.rowcount == 1: fulfil(order)`,
    },
  },
  'headers-trusted': {
    text: 'Do not trust headers: anyone can set them. Only the signature proves the sender.',
    code: SIGNED,
  },
  'input-not-escaped': {
    text: 'Bind values as SQL parameters, escape output, and use a fixed text for error responses.',
    code: {
      PHP: `$find = $db->prepare('SELECT * FROM orders WHERE identifier = ?'); $find->execute([$identifier]); echo htmlspecialchars($name);`,
      Node: `await db.query('SELECT * FROM orders WHERE identifier = $1', [identifier]); // never echo input in the response`,
      Python: `cursor.execute('SELECT * FROM orders WHERE identifier = ?', (identifier,)); html.escape(name)`,
    },
  },
  'secrets-shown': {
    text: 'Log errors on the server, respond with a fixed text, and never print a key or the expected signature.',
    code: {
      PHP: `ini_set('display_errors', '0'); http_response_code(400); exit('rejected');`,
      Node: `res.writeHead(400).end('rejected'); // console.error(error) for yourself`,
      Python: `app.logger.exception(error)\nreturn 'rejected', 400`,
    },
  },
  'initiate-from-outside': {
    text: 'Initiate payments on the server. Read the total, currency and URLs from the database, and the keys from the configuration.',
    code: {
      PHP: `$fields = ['amount' => $order->total, 'currency' => $order->currency, 'ipn_url' => $base . '/ipn?token=' . $order->ipn_token];`,
      Node: `const fields = { amount: order.total, currency: order.currency, ipn_url: \`\${base}/ipn?token=\${order.ipnToken}\` };`,
      Python: `fields = {'amount': order.total, 'currency': order.currency, 'ipn_url': f'{base}/ipn?token={order.ipn_token}'}`,
    },
  },
  'handler-breaks': {
    text: 'Accept the POST without a session, login or CSRF token. Answer 2xx within two seconds if you accept the IPN, and 4xx if you reject it.',
    code: {
      PHP: `// the route of ipn_url: POST, outside the CSRF middleware; http_response_code(200) only at the end`,
      Node: `app.post('/ipn', express.urlencoded({ extended: true }), handleIpn); // before any login`,
      Python: `@app.post('/ipn')  # csrf_exempt`,
    },
  },
} as const satisfies Record<string, Fix>;

export type MistakeName = keyof typeof FIXES;

/** Patterns in responses that reveal a language. */
const SIGNS: Readonly<Record<keyof Code, RegExp>> = {
  PHP: /^x-powered-by: .*PHP|PHPSESSID|laravel_session|\.php\b/im,
  Node: /^x-powered-by: .*Express|\.[cm]?js:\d+:\d+/im,
  Python: /^server: .*(?:Python|Werkzeug|gunicorn|uvicorn|WSGIServer)|Traceback \(most recent call last\)/im,
};

/** The language that a shop's responses reveal; undefined if there is none, or more than one. */
export function languageOf(observations: readonly Observation[]): keyof Code | undefined {
  const texts = observations.map(({ headers, body }) =>
    [...headers.map((pair) => pair.join(': ')), body.slice(0, READ)].join('\n'),
  );
  const [language, another] = namesOf(SIGNS).filter((name) => texts.some((text) => SIGNS[name].test(text)));
  return another === undefined ? language : undefined;
}

/** Maximum characters read from each response. */
const READ = 4_096;

/** The fix of a mistake, with a line of code for the language of the shop, or for each language if it is unknown. */
export function fixText(name: MistakeName, language?: keyof Code): string {
  const { text, code } = FIXES[name];
  const lines = Object.entries(code).filter(([of]) => language === undefined || of === language);
  return [text, ...lines.map(([of, line]) => `${of}: ${line}`)].join('\n');
}
