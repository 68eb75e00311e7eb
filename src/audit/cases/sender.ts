import { type AuditCase, type Forge, family, PAYS_ORDERS, type Row, rejects, type Target } from '../case.ts';
import type { ProbeRequest } from '../client.ts';
import { type Ipn, type Pair, withQuery } from '../ipn.ts';

/** An attack on the check of the sender, and how it differs from its family. */
type Attack = readonly [name: string, about: string, forge: Forge, own?: Row[3]];

const attacks = (common: Pick<AuditCase, 'class' | 'mistake'>, rows: readonly Attack[]): AuditCase[] =>
  family(
    { group: 'sender', harm: PAYS_ORDERS, ...common },
    rows.map(([name, about, forge, own]) => [name, about, rejects(forge, undefined, true), own]),
  );

/** Keys from documentation and examples. */
const EXAMPLE_KEYS = [
  ...['secret', 'SECRET_KEY', 'YOUR_SECRET_KEY', 'your_secret_key', 'your-secret-key', 'YOUR_SECRET_API_KEY'],
  ...['secret_key', 'test', 'changeme', 'sk_test', '123456'],
];
const DEFAULT_KEY = 'sec_sim_example_not_a_real_key';
const OTHER_KEY = 'not-the-secret-key';

/** Signs with a key that is not the merchant's. */
const signedWith =
  (key: string): Forge =>
  ({ ipn, shop }) =>
    key === shop.gateway.secretKey
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

const asList = (name: string) => `${name}[]`;

/** An IPN as JSON with a signature that may pass a loose comparison. */
const jsonSigned = (name: string, signature: unknown): Attack => [
  `signature-json-${name}`,
  `An IPN as JSON with the signature ${signature}, which may pass a loose comparison.`,
  ({ ipn, payment, shop }) => ({
    url: shop.addressOf(payment),
    contentType: 'application/json',
    body: JSON.stringify({ ...ipn.fields, [ipn.nameOf('signature')]: signature }),
  }),
];

/** The attacker's own genuine IPN, to which the victim's identifier is added. */
const secondIdentifier = (
  name: string,
  where: string,
  add: (own: Ipn, victim: Pair, target: Target) => Ipn | ProbeRequest,
  own: Row[3] = { mistake: 'order-not-by-identifier' },
): Attack => [
  `identifier-doubled-${name}`,
  `The attacker's own genuine IPN with the order's identifier ${where}: a shop may verify one and look up the other.`,
  async (target) => add(await attackerIpn(target), ['identifier', target.payment.identifier], target),
  own,
];

export const SENDER: readonly AuditCase[] = [
  ...attacks({ class: 'A', mistake: 'signature-not-checked' }, [
    ['signature-missing', 'An IPN without a signature.', ({ ipn }) => ipn.unset('signature')],
    [
      'signature-garbage',
      'An IPN with 64 arbitrary digits as its signature.',
      ({ ipn }) => ipn.badlySigned(),
    ],
    ['signature-other-secret', 'An IPN signed with a different key.', signedWith(OTHER_KEY)],
    [
      'signature-public-key',
      'An IPN signed with the public key, which anyone can read.',
      ({ ipn, shop }) => ipn.signedWith(shop.gateway.publicKey),
    ],
    [
      'signature-lower-case',
      'An IPN with a wrong signature in lower case.',
      ({ ipn }) => ipn.set('signature', ipn.signedWith(OTHER_KEY).get('signature').toLowerCase()),
    ],
    [
      'signature-beginning',
      'An IPN with only the first digits of its signature, which an attacker can find by trial and error.',
      ({ ipn, shop }) => {
        const genuine = ipn.signedWith(shop.gateway.secretKey).get('signature');
        const wrongEnd = genuine.endsWith('0') ? '1' : '0';
        return [genuine.slice(0, 1), genuine.slice(0, 8)]
          .flatMap((begin) => [begin, begin.padEnd(genuine.length, wrongEnd)])
          .map((signature) => ipn.set('signature', signature));
      },
    ],
    [
      'signature-base64',
      'An IPN with a wrong signature in base64.',
      ({ ipn }) => {
        const wrong = Buffer.from(ipn.signedWith(OTHER_KEY).get('signature'), 'hex');
        return ipn.set('signature', wrong.toString('base64'));
      },
    ],
    [
      'signature-other-order',
      'An IPN with the genuine signature of another order.',
      async (target) => target.ipn.set('signature', (await attackerIpn(target)).get('signature')),
    ],
    [
      'signature-garbage-test-flag',
      'An incorrectly signed IPN with a test flag, such as test=1, sandbox=1 or mode=sandbox.',
      ({ ipn, post }) =>
        TEST_FLAGS.flatMap((flag) => [ipn.badlySigned().and(flag), inQuery(post(ipn.badlySigned()), flag)]),
    ],
  ]),
  ...attacks({ class: 'B', mistake: 'fields-not-required' }, [
    ['signature-empty', 'An IPN with an empty signature.', ({ ipn }) => ipn.set('signature', '')],
    [
      'signature-null',
      'An IPN with the text null as its signature.',
      ({ ipn }) => ipn.set('signature', 'null'),
      { mistake: 'signature-not-checked' },
    ],
    [
      'signature-empty-array',
      'An IPN with an empty list as its signature, which may crash the check.',
      ({ ipn }) => ipn.set('signature', '').renamed('signature', asList),
    ],
    [
      'data-missing',
      'An IPN without its data, signed with an empty key over the identifier only.',
      ({ ipn }) => ipn.set('amount', '').signedWith('').withoutGroups(),
    ],
  ]),
  ...attacks({ class: 'C', mistake: 'secret-known' }, [
    ['secret-empty', 'An IPN signed with an empty key, which an unconfigured shop uses.', signedWith('')],
    [
      'secret-null',
      'An IPN signed with the text null as the key.',
      ({ ipn }) => ['null', 'undefined', 'None', 'false', '0'].map((key) => ipn.signedWith(key)),
    ],
    [
      'secret-of-documentation',
      'An IPN signed with keys from documentation and examples.',
      ({ ipn, shop }) =>
        EXAMPLE_KEYS.filter((key) => key !== shop.gateway.secretKey).map((key) => ipn.signedWith(key)),
    ],
    ['secret-of-emulator', 'An IPN signed with the default key of the emulator.', signedWith(DEFAULT_KEY)],
  ]),
  ...attacks({ class: 'I', mistake: 'headers-trusted' }, [
    [
      'origin-spoofed',
      'An incorrectly signed IPN with headers that name the gateway as the sender.',
      ({ ipn, post, shop: { gateway } }) => ({
        ...post(ipn.badlySigned()),
        headers: [
          ['X-Forwarded-For', '127.0.0.1'],
          ['X-Real-IP', '127.0.0.1'],
          ['X-Forwarded-Host', new URL(gateway.url).host],
          ['Origin', gateway.url],
          ['Referer', `${gateway.url}/`],
        ],
      }),
    ],
  ]),
  ...attacks({ class: 'J', mistake: 'fields-not-required' }, [
    [
      'signature-array',
      'An IPN whose signature is a list with one entry.',
      ({ ipn }) => ipn.badlySigned().renamed('signature', asList),
    ],
    [
      'signature-nested',
      'An IPN whose signature is a group of fields.',
      ({ ipn }) => ipn.set('signature', '1').renamed('signature', (name) => `${name}[value]`),
    ],
    [
      'amount-array',
      'An IPN whose amount is a list, signed over the text that PHP converts it to: Array.',
      ({ ipn }) => {
        const forged = ipn.set('amount', 'Array').signedWith('');
        return forged.set('amount', ipn.get('amount')).renamed('amount', asList);
      },
    ],
    [
      'identifier-array',
      'An IPN whose identifier is a list with one entry.',
      ({ ipn }) => ipn.badlySigned().renamed('identifier', asList),
    ],
    jsonSigned('true', true),
    jsonSigned('zero', 0),
    jsonSigned('null', null),
    [
      'signature-magic-hash',
      'An IPN with the signature 0e123, which a loose comparison reads as zero.',
      ({ ipn }) => ipn.set('signature', '0e123'),
      { mistake: 'signature-not-checked' },
    ],
    [
      'fields-doubled',
      'An IPN with two values in some fields: only a handler that mixes first and last values finds a valid signature.',
      ({ ipn }) => {
        const [signature, amount] = [ipn.get('signature'), ipn.get('amount')];
        return ipn
          .badlySigned()
          .and([ipn.nameOf('amount'), `9${amount}`], [ipn.nameOf('signature'), signature]);
      },
    ],
    secondIdentifier('last', 'after its own', (own, victim) => own.and(victim)),
    secondIdentifier('first', 'before its own', (own, victim) => own.after(victim)),
    secondIdentifier('array', 'as identifier[]', (own, [, id]) => own.and(['identifier[]', id])),
    secondIdentifier('nested', 'as data[identifier]', (own, [, id]) => own.and(['data[identifier]', id])),
    secondIdentifier('query', 'in the query string', (own, victim, { post }) => inQuery(post(own), victim)),
    secondIdentifier(
      'body',
      'in the body and its own in the query string',
      (own, [name, id], { post }) => inQuery(post(own.set('identifier', id)), [name, own.get('identifier')]),
      { mistake: 'signature-not-checked' },
    ),
    [
      'data-as-text',
      'An incorrectly signed IPN whose data is a JSON string.',
      ({ ipn }) => {
        const data = JSON.stringify(ipn.fields['data'] ?? {});
        return ipn.badlySigned().withoutGroups().and(['data', data]);
      },
    ],
  ]),
];
