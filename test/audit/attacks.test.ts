import type { IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { prepareAudit } from '../helpers/auditable.ts';

/** The fields of each IPN that few attacks change. */
const OTHER_FIELDS =
  '&data[account_holder]=Ada&data[payment_type]=hosted&data[payment_timestamp]=TIME&data[charge]=1.00&data[currency][code]=USD&data[currency][symbol]=$';

/** Words for what differs in every run, in this order. */
const VARIABLE: readonly (readonly [RegExp, string])[] = [
  [/127\.0\.0\.1:\d+/g, 'HOST'],
  [/\d{4}-\d\d-\d\d[ +]\d\d(:|%3A)\d\d(:|%3A)\d\d/g, 'TIME'],
  [/pay_[a-z0-9]{24}/g, 'PAYMENT'],
  [/ipn_[a-z0-9]{16}/g, 'DELIVERY'],
  [/sim-[a-z0-9]+-[a-z0-9]+/g, 'ATTACKERS-ID'],
  [/((?:payment_)?trx(?:\]|%5D)?(?:=|":"))[A-Z0-9]{12}/gi, '$1TRX'],
  [/(name="data\[payment_trx\]"\s+)[A-Z0-9]{12}/g, '$1TRX'],
  [/\b((?:ref|reference|txn_id|transaction_id)=)[A-Z0-9]{12}/g, '$1TRX'],
  [/[0-9A-F]{8}0{56}/g, 'BEGINNING-OF-SIGNATURE'],
  [/signature=[0-9A-F]&/g, 'signature=ONE-DIGIT&'],
  [/signature=[0-9A-F]{8}&/g, 'signature=EIGHT-DIGITS&'],
  [/(?!F{64})[0-9A-F]{64}/g, 'SIGNATURE'],
  [/[0-9a-f]{64}/g, 'signature'],
  [/signature=[\w+/]{43}=/g, 'signature=BASE64'],
  [/token=[0-9a-f]{32}/g, 'token=TOKEN'],
  [
    /(?<![0-9a-f])(?:[0-9a-f]{10}z{10}|z{10}[0-9a-f]{10}|[0-9a-f]{19}z|z[0-9a-f]{19})(?![0-9a-f])/g,
    'PART-OF-ID',
  ],
  [/[0-9a-f]*[\uff10-\uff5a][0-9a-f]*/g, 'ID-WITH-WIDE-CHARACTER'],
  [/[0-9a-f]{20}(?=_2)/g, 'ID'],
  [/\b[0-9a-f]{21}\b/g, 'ID-AND-A-DIGIT'],
  [/[0-9a-f]*[áçé][0-9a-f]*/g, 'ID-WITH-ACCENT'],
  [/[0-9a-f]{19}(?=[_%])/g, 'BEGINNING-OF-ID'],
  [/[0-9a-f]{20}/g, 'ID'],
  [/\b[0-9a-f]{18,19}\b/g, 'PART-OF-ID'],
  [/(?<![0-9A-F])[0-9A-F]{20}(?![0-9A-F])/g, 'ID-IN-UPPER-CASE'],
  [/\b\d+ bytes/g, 'some bytes'],
  [/all \d+ requests/g, 'all requests'],
  [/\n/g, '\\n'],
  [/\p{Cc}/gu, '<control>'],
];

const normalized = (text: string) =>
  VARIABLE.reduce((before, [pattern, word]) => before.replace(pattern, word), text).replace(
    OTHER_FIELDS,
    '&…',
  );
const decoded = (text: string) => decodeURIComponent(text.replaceAll('+', ' '));

/** Headers of every request. */
const COMMON = /^(?:Host|Content-Length|User-Agent: gateway-sim|Accept: \*\/\*|X-Gateway-Sim: 1)/;

/** A request as the shop receives it: the first line, the headers that make it special, and the body. */
function received({ method, url, headers, rawHeaders }: IncomingMessage, raw: Buffer): string {
  const body = (headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw).toString();
  const special = rawHeaders
    .map((name, index) => `${name}: ${rawHeaders[index + 1]}`)
    .filter((header, index) => index % 2 === 0 && !COMMON.test(header));
  const shown = body.length > 2_000 ? `${body.slice(0, 100)}… (${body.length} characters)` : body;
  return [`${method} ${decoded(url ?? '')}`, ...special, decoded(shown)]
    .map((line) => `${normalized(line)}\n`)
    .join('');
}

it('a good handler passes every case, and every case sends what it describes', async () => {
  const requests = new Set<string>();
  const { sim, audit } = await prepareAudit({
    see: (request, raw) => requests.add(received(request, raw)),
  });
  const seen: string[] = [];
  const { cases } = await audit({ thorough: true, onCase: ({ name }) => seen.push(name) });
  const others = cases.filter(({ verdict }) => verdict !== 'pass');
  // There is no confirmation URL and no page of an order, and orders of a function have no cookies and no headers.
  expect(others.map(({ name, verdict }) => [name, verdict])).toEqual([
    ['return-own-session', 'skipped'],
    ['return-other-session', 'skipped'],
    ['return-second-order', 'skipped'],
    ['confirm-unpaid', 'skipped'],
    ['initiate-other-host', 'skipped'],
    ['initiate-price-given', 'skipped'],
    ['signature-on-page', 'skipped'],
  ]);
  expect(cases.length).toBeGreaterThanOrEqual(60);
  expect(seen.toSorted()).toEqual(cases.map(({ name }) => name).toSorted());
  // All payments of the audit are settled.
  expect((await sim.payments.list({ status: 'pending' })).data).toEqual([]);
  const texts = cases.map(({ name, sent }) => `${name}\n${normalized(sent ?? 'nothing')}\n`);
  await expect(texts.join('\n')).toMatchFileSnapshot('attacks.txt');
  await expect([...requests].toSorted().join('\n')).toMatchFileSnapshot('requests.txt');
});
