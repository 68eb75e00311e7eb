import { type AuditCase, type CaseText, type Forge, family, refuses, type Target } from '../case.ts';
import type { ProbeRequest } from '../client.ts';
import { type Ipn, type Pair, withQuery } from '../ipn.ts';

const SENDER_CASE = {
  group: 'sender',
  harm: 'Anybody who knows the address marks orders as paid, without any payment.',
} as const satisfies Partial<CaseText>;

const unauthenticated = family({ ...SENDER_CASE, class: 'A', mistake: 'signature-not-checked' });
const failingOpen = family({ ...SENDER_CASE, class: 'B', mistake: 'fields-not-required' });
const knownSecret = family({ ...SENDER_CASE, class: 'C', mistake: 'secret-known' });
const spoofed = family({ ...SENDER_CASE, class: 'I', mistake: 'headers-trusted' });
const juggled = family({ ...SENDER_CASE, class: 'J', mistake: 'fields-not-required' });

/** Keys that stand in documentation and examples. */
const EXAMPLE_KEYS = [
  ...['secret', 'SECRET_KEY', 'YOUR_SECRET_KEY', 'your_secret_key', 'your-secret-key', 'YOUR_SECRET_API_KEY'],
  ...['secret_key', 'test', 'changeme', 'sk_test', '123456'],
];
const DEFAULT_KEY = 'sec_sim_example_not_a_real_key';

/** Signed with a key that is not the merchant's. */
const signedWith =
  (key: string): Forge =>
  ({ ipn, shop }) =>
    key === shop.parts.gateway.secretKey
      ? 'this is the secret key of the merchant itself: start the emulator with another one'
      : ipn.signedWith(key);

/** The attacker's own genuine IPN, of a payment that costs the same as the order. */
const attackerIpn = ({ shop, payment: { amount, currency } }: Target) =>
  shop.attackerIpn({ amount, currency });

/** Flags by which a shop may tell that a request is a test. */
const TEST_FLAGS: readonly Pair[] = [
  ['test', '1'],
  ['sandbox', '1'],
  ['mode', 'sandbox'],
  ['mode', 'test'],
  ['environment', 'sandbox'],
  ['debug', '1'],
];

const inQuery = (shot: ProbeRequest, pair: Pair): ProbeRequest => ({
  ...shot,
  url: withQuery(shot.url, pair),
});

/** Where the identifier of the victim can stand beside that of the attacker's own genuine IPN. */
const SECOND_IDENTIFIERS: readonly (readonly [
  name: string,
  where: string,
  make: (own: Ipn, target: Target) => Ipn | ProbeRequest,
])[] = [
  ['last', 'behind it', (own, { payment }) => own.and(['identifier', payment.identifier])],
  ['first', 'before it', (own, { payment }) => own.after(['identifier', payment.identifier])],
  ['array', 'as identifier[]', (own, { payment }) => own.and(['identifier[]', payment.identifier])],
  ['nested', 'as data[identifier]', (own, { payment }) => own.and(['data[identifier]', payment.identifier])],
  [
    'query',
    'in the query of the address',
    (own, { payment, post }) => inQuery(post(own), ['identifier', payment.identifier]),
  ],
  [
    'body',
    'in the body, its own in the query',
    (own, { payment, post }) =>
      inQuery(post(own.set('identifier', payment.identifier)), ['identifier', own.get('identifier')]),
  ],
];

export const SENDER: readonly AuditCase[] = [
  refuses(unauthenticated('signature-missing', 'An IPN without a signature.'), ({ ipn }) =>
    ipn.unset('signature'),
  ),
  refuses(unauthenticated('signature-garbage', 'An IPN with any 64 digits as its signature.'), ({ ipn }) =>
    ipn.badlySigned(),
  ),
  refuses(
    unauthenticated('signature-other-secret', 'An IPN signed with some other key.'),
    signedWith('not-the-secret-key'),
  ),
  refuses(
    unauthenticated('signature-public-key', 'An IPN signed with the public key, which every page may show.'),
    ({ ipn, shop }) => ipn.signedWith(shop.parts.gateway.publicKey),
  ),
  refuses(unauthenticated('signature-lower-case', 'A wrong signature in lower case.'), ({ ipn }) => {
    const wrong = ipn.signedWith('not-the-secret-key');
    return wrong.set('signature', wrong.get('signature').toLowerCase());
  }),
  refuses(unauthenticated('signature-base64', 'A wrong signature in base64.'), ({ ipn }) => {
    const wrong = Buffer.from(ipn.signedWith('not-the-secret-key').get('signature'), 'hex');
    return ipn.set('signature', wrong.toString('base64'));
  }),
  refuses(
    unauthenticated('signature-other-order', 'The genuine signature of another order.'),
    async (target) => target.ipn.set('signature', (await attackerIpn(target)).get('signature')),
  ),
  refuses(
    unauthenticated(
      'signature-garbage-test-flag',
      'A bad signature beside flags that call the request a test: test=1, sandbox=1, mode=sandbox and the like.',
    ),
    ({ ipn, post }) =>
      TEST_FLAGS.flatMap((flag) => [ipn.badlySigned().and(flag), inQuery(post(ipn.badlySigned()), flag)]),
  ),
  refuses(failingOpen('signature-empty', 'An empty signature.'), ({ ipn }) => ipn.set('signature', '')),
  refuses(failingOpen('signature-null', 'The text null as signature.'), ({ ipn }) =>
    ipn.set('signature', 'null'),
  ),
  refuses(
    failingOpen('signature-empty-array', 'The signature as an empty list, at which a check may break off.'),
    ({ ipn }) => ipn.set('signature', '').renamed('signature', (name) => `${name}[]`),
  ),
  refuses(
    failingOpen(
      'data-missing',
      'An IPN without its data, signed over the identifier alone by a key that is empty.',
    ),
    ({ ipn }) => ipn.set('amount', '').signedWith('').withoutGroups(),
  ),
  refuses(
    knownSecret('secret-empty', 'Signed with an empty key, as of a shop without configuration.'),
    signedWith(''),
  ),
  refuses(knownSecret('secret-null', 'Signed with the text null as key.'), ({ ipn }) =>
    ['null', 'undefined', 'None', 'false', '0'].map((key) => ipn.signedWith(key)),
  ),
  refuses(
    knownSecret('secret-of-documentation', 'Signed with the keys that stand in documentation and examples.'),
    ({ ipn, shop }) =>
      EXAMPLE_KEYS.filter((key) => key !== shop.parts.gateway.secretKey).map((key) => ipn.signedWith(key)),
  ),
  refuses(
    knownSecret('secret-of-emulator', 'Signed with the key that every fresh emulator has.'),
    signedWith(DEFAULT_KEY),
  ),
  refuses(
    spoofed('origin-spoofed', 'A bad signature beside headers that name the gateway as the sender.'),
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
  refuses(juggled('signature-array', 'The signature as a list of one.'), ({ ipn }) =>
    ipn.badlySigned().renamed('signature', (name) => `${name}[]`),
  ),
  refuses(juggled('signature-nested', 'The signature as a group of fields.'), ({ ipn }) =>
    ipn.set('signature', '1').renamed('signature', (name) => `${name}[value]`),
  ),
  refuses(
    juggled('amount-array', 'The amount as a list, with a signature over what a list is turned into.'),
    ({ ipn }) => {
      const forged = ipn.set('amount', 'Array').signedWith('');
      return forged.set('amount', ipn.get('amount')).renamed('amount', (name) => `${name}[]`);
    },
  ),
  refuses(juggled('identifier-array', 'The identifier as a list of one.'), ({ ipn }) =>
    ipn.badlySigned().renamed('identifier', (name) => `${name}[]`),
  ),
  ...Object.entries({ true: true, zero: 0, null: null }).map(([name, signature]) =>
    refuses(
      juggled(
        `signature-json-${name}`,
        `A JSON body whose signature is ${signature}, which a loose comparison may call equal.`,
      ),
      ({ ipn, payment, shop }) => ({
        url: shop.addressOf(payment),
        contentType: 'application/json',
        body: JSON.stringify({ ...ipn.fields, [ipn.nameOf('signature')]: signature }),
      }),
    ),
  ),
  refuses(
    {
      ...juggled('signature-magic-hash', 'The signature 0e123, which a loose comparison calls zero.'),
      mistake: 'signature-not-checked',
    },
    ({ ipn }) => ipn.set('signature', '0e123'),
  ),
  refuses(
    juggled(
      'fields-doubled',
      'Each field twice, so that only a mixture of first and last readings is genuine.',
    ),
    ({ ipn }) => {
      const [signature, amount] = [ipn.get('signature'), ipn.get('amount')];
      return ipn
        .badlySigned()
        .and([ipn.nameOf('amount'), `9${amount}`], [ipn.nameOf('signature'), signature]);
    },
  ),
  ...SECOND_IDENTIFIERS.map(([name, where, make]) =>
    refuses(
      {
        ...juggled(
          `identifier-doubled-${name}`,
          `The attacker's own genuine IPN with the identifier of the order ${where}: one is verified, the other looked up.`,
        ),
        mistake: 'order-not-by-identifier',
      },
      async (target) => make(await attackerIpn(target), target),
    ),
  ),
  refuses(juggled('data-as-text', 'The data as one text of JSON, with a bad signature.'), ({ ipn }) =>
    ipn
      .badlySigned()
      .withoutGroups()
      .and(['data', JSON.stringify(ipn.fields['data'] ?? {})]),
  ),
];
