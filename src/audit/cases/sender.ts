import { type AuditCase, type CaseText, type Forge, family, rejects, type Target } from '../case.ts';
import type { ProbeRequest } from '../client.ts';
import { type Ipn, type Pair, withQuery } from '../ipn.ts';
import type { MistakeName } from '../mistakes.ts';

/** The harm of an IPN that is accepted without its signature. */
export const PAYS_ORDERS = 'Anyone who knows the ipn_url can mark orders as paid without a payment.';

const SENDER_CASE = {
  group: 'sender',
  harm: PAYS_ORDERS,
} as const satisfies Partial<CaseText>;

const unauthenticated = family({ ...SENDER_CASE, class: 'A', mistake: 'signature-not-checked' });
const failingOpen = family({ ...SENDER_CASE, class: 'B', mistake: 'fields-not-required' });
const knownSecret = family({ ...SENDER_CASE, class: 'C', mistake: 'secret-known' });
const spoofed = family({ ...SENDER_CASE, class: 'I', mistake: 'headers-trusted' });
const juggled = family({ ...SENDER_CASE, class: 'J', mistake: 'fields-not-required' });

/** Keys from documentation and examples. */
const EXAMPLE_KEYS = [
  ...['secret', 'SECRET_KEY', 'YOUR_SECRET_KEY', 'your_secret_key', 'your-secret-key', 'YOUR_SECRET_API_KEY'],
  ...['secret_key', 'test', 'changeme', 'sk_test', '123456'],
];
const DEFAULT_KEY = 'sec_sim_example_not_a_real_key';

/** Signs with a key that is not the merchant's. */
const signedWith =
  (key: string): Forge =>
  ({ ipn, shop }) =>
    key === shop.parts.gateway.secretKey
      ? 'the emulator itself uses this key, so the IPN would be genuine; to run this case, start it with another --secret-key'
      : ipn.signedWith(key);

/** The genuine IPN of the attacker's own payment, for the amount of the order. */
const attackerIpn = ({ shop, payment: { amount, currency } }: Target) =>
  shop.attackerIpn({ amount, currency });

/** Flags that may make a shop treat a request as a test. */
const TEST_FLAGS: readonly Pair[] = [
  ['test', '1'],
  ['sandbox', '1'],
  ['mode', 'sandbox'],
  ['mode', 'test'],
  ['environment', 'sandbox'],
  ['debug', '1'],
];

const inQuery = (request: ProbeRequest, pair: Pair): ProbeRequest => ({
  ...request,
  url: withQuery(request.url, pair),
});

/** Positions for the victim's identifier in the attacker's own genuine IPN. */
const SECOND_IDENTIFIERS: readonly (readonly [
  name: string,
  where: string,
  make: (own: Ipn, target: Target) => Ipn | ProbeRequest,
  mistake?: MistakeName,
])[] = [
  ['last', 'after its own', (own, { payment }) => own.and(['identifier', payment.identifier])],
  ['first', 'before its own', (own, { payment }) => own.after(['identifier', payment.identifier])],
  ['array', 'as identifier[]', (own, { payment }) => own.and(['identifier[]', payment.identifier])],
  ['nested', 'as data[identifier]', (own, { payment }) => own.and(['data[identifier]', payment.identifier])],
  [
    'query',
    'in the query string',
    (own, { payment, post }) => inQuery(post(own), ['identifier', payment.identifier]),
  ],
  [
    'body',
    'in the body and its own in the query string',
    (own, { payment, post }) =>
      inQuery(post(own.set('identifier', payment.identifier)), ['identifier', own.get('identifier')]),
    'signature-not-checked',
  ],
];

export const SENDER: readonly AuditCase[] = [
  rejects(unauthenticated('signature-missing', 'An IPN without a signature.'), ({ ipn }) =>
    ipn.unset('signature'),
  ),
  rejects(
    unauthenticated('signature-garbage', 'An IPN with 64 arbitrary digits as its signature.'),
    ({ ipn }) => ipn.badlySigned(),
  ),
  rejects(
    unauthenticated('signature-other-secret', 'An IPN signed with a different key.'),
    signedWith('not-the-secret-key'),
  ),
  rejects(
    unauthenticated('signature-public-key', 'An IPN signed with the public key, which anyone can read.'),
    ({ ipn, shop }) => ipn.signedWith(shop.parts.gateway.publicKey),
  ),
  rejects(
    unauthenticated('signature-lower-case', 'An IPN with a wrong signature in lower case.'),
    ({ ipn }) => {
      const wrong = ipn.signedWith('not-the-secret-key');
      return wrong.set('signature', wrong.get('signature').toLowerCase());
    },
  ),
  rejects(
    unauthenticated(
      'signature-beginning',
      'An IPN with only the first digits of its signature, which an attacker can find by trial and error.',
    ),
    ({ ipn, shop }) => {
      const genuine = ipn.signedWith(shop.parts.gateway.secretKey).get('signature');
      return [1, 8]
        .flatMap((count) => {
          const begin = genuine.slice(0, count);
          return [begin, begin.padEnd(genuine.length, genuine.endsWith('0') ? '1' : '0')];
        })
        .map((signature) => ipn.set('signature', signature));
    },
  ),
  rejects(unauthenticated('signature-base64', 'An IPN with a wrong signature in base64.'), ({ ipn }) => {
    const wrong = Buffer.from(ipn.signedWith('not-the-secret-key').get('signature'), 'hex');
    return ipn.set('signature', wrong.toString('base64'));
  }),
  rejects(
    unauthenticated('signature-other-order', 'An IPN with the genuine signature of another order.'),
    async (target) => target.ipn.set('signature', (await attackerIpn(target)).get('signature')),
  ),
  rejects(
    unauthenticated(
      'signature-garbage-test-flag',
      'An incorrectly signed IPN with a test flag, such as test=1, sandbox=1 or mode=sandbox.',
    ),
    ({ ipn, post }) =>
      TEST_FLAGS.flatMap((flag) => [ipn.badlySigned().and(flag), inQuery(post(ipn.badlySigned()), flag)]),
  ),
  rejects(failingOpen('signature-empty', 'An IPN with an empty signature.'), ({ ipn }) =>
    ipn.set('signature', ''),
  ),
  rejects(
    {
      ...failingOpen('signature-null', 'An IPN with the text null as its signature.'),
      mistake: 'signature-not-checked',
    },
    ({ ipn }) => ipn.set('signature', 'null'),
  ),
  rejects(
    failingOpen(
      'signature-empty-array',
      'An IPN with an empty list as its signature, which may crash the check.',
    ),
    ({ ipn }) => ipn.set('signature', '').renamed('signature', (name) => `${name}[]`),
  ),
  rejects(
    failingOpen(
      'data-missing',
      'An IPN without its data, signed with an empty key over the identifier only.',
    ),
    ({ ipn }) => ipn.set('amount', '').signedWith('').withoutGroups(),
  ),
  rejects(
    knownSecret('secret-empty', 'An IPN signed with an empty key, which an unconfigured shop uses.'),
    signedWith(''),
  ),
  rejects(knownSecret('secret-null', 'An IPN signed with the text null as the key.'), ({ ipn }) =>
    ['null', 'undefined', 'None', 'false', '0'].map((key) => ipn.signedWith(key)),
  ),
  rejects(
    knownSecret('secret-of-documentation', 'An IPN signed with keys from documentation and examples.'),
    ({ ipn, shop }) =>
      EXAMPLE_KEYS.filter((key) => key !== shop.parts.gateway.secretKey).map((key) => ipn.signedWith(key)),
  ),
  rejects(
    knownSecret('secret-of-emulator', 'An IPN signed with the default key of the emulator.'),
    signedWith(DEFAULT_KEY),
  ),
  rejects(
    spoofed('origin-spoofed', 'An incorrectly signed IPN with headers that name the gateway as the sender.'),
    ({ ipn, post, shop }) => ({
      ...post(ipn.badlySigned()),
      headers: [
        ['X-Forwarded-For', '127.0.0.1'],
        ['X-Real-IP', '127.0.0.1'],
        ['X-Forwarded-Host', new URL(shop.parts.gateway.url).host],
        ['Origin', shop.parts.gateway.url],
        ['Referer', `${shop.parts.gateway.url}/`],
      ],
    }),
  ),
  rejects(juggled('signature-array', 'An IPN whose signature is a list with one entry.'), ({ ipn }) =>
    ipn.badlySigned().renamed('signature', (name) => `${name}[]`),
  ),
  rejects(juggled('signature-nested', 'An IPN whose signature is a group of fields.'), ({ ipn }) =>
    ipn.set('signature', '1').renamed('signature', (name) => `${name}[value]`),
  ),
  rejects(
    juggled(
      'amount-array',
      'An IPN whose amount is a list, signed over the text that PHP converts it to: Array.',
    ),
    ({ ipn }) => {
      const forged = ipn.set('amount', 'Array').signedWith('');
      return forged.set('amount', ipn.get('amount')).renamed('amount', (name) => `${name}[]`);
    },
  ),
  rejects(juggled('identifier-array', 'An IPN whose identifier is a list with one entry.'), ({ ipn }) =>
    ipn.badlySigned().renamed('identifier', (name) => `${name}[]`),
  ),
  ...Object.entries({ true: true, zero: 0, null: null }).map(([name, signature]) =>
    rejects(
      juggled(
        `signature-json-${name}`,
        `An IPN as JSON with the signature ${signature}, which may pass a loose comparison.`,
      ),
      ({ ipn, payment, shop }) => ({
        url: shop.addressOf(payment),
        contentType: 'application/json',
        body: JSON.stringify({ ...ipn.fields, [ipn.nameOf('signature')]: signature }),
      }),
    ),
  ),
  rejects(
    {
      ...juggled(
        'signature-magic-hash',
        'An IPN with the signature 0e123, which a loose comparison reads as zero.',
      ),
      mistake: 'signature-not-checked',
    },
    ({ ipn }) => ipn.set('signature', '0e123'),
  ),
  rejects(
    juggled(
      'fields-doubled',
      'An IPN with two values in some fields: only a handler that mixes first and last values finds a valid signature.',
    ),
    ({ ipn }) => {
      const [signature, amount] = [ipn.get('signature'), ipn.get('amount')];
      return ipn
        .badlySigned()
        .and([ipn.nameOf('amount'), `9${amount}`], [ipn.nameOf('signature'), signature]);
    },
  ),
  ...SECOND_IDENTIFIERS.map(([name, where, make, mistake = 'order-not-by-identifier']) =>
    rejects(
      {
        ...juggled(
          `identifier-doubled-${name}`,
          `The attacker's own genuine IPN with the order's identifier ${where}: a shop may verify one and look up the other.`,
        ),
        mistake,
      },
      async (target) => make(await attackerIpn(target), target),
    ),
  ),
  rejects(juggled('data-as-text', 'An incorrectly signed IPN whose data is a JSON string.'), ({ ipn }) =>
    ipn
      .badlySigned()
      .withoutGroups()
      .and(['data', JSON.stringify(ipn.fields['data'] ?? {})]),
  ),
];
