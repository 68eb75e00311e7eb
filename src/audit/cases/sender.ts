import type { AuditClass } from '../../contract/audit.ts';
import { type AuditCase, refuses, type Target } from '../case.ts';
import type { ProbeRequest } from '../client.ts';
import type { Ipn, Pair } from '../ipn.ts';
import type { MistakeName } from '../mistakes.ts';

const HARM = 'Anybody who knows the address marks orders as paid, without any payment.';
/** Keys that stand in documentation and examples. */
const EXAMPLE_KEYS = [
  ...['secret', 'SECRET_KEY', 'YOUR_SECRET_KEY', 'your_secret_key', 'your-secret-key', 'YOUR_SECRET_API_KEY'],
  ...['secret_key', 'test', 'changeme', 'sk_test', '123456'],
];
const DEFAULT_KEY = 'sec_sim_example_not_a_real_key';

function sender(
  name: string,
  kind: AuditClass,
  about: string,
  forge: (
    ipn: Ipn,
    target: Target,
  ) => Ipn | ProbeRequest | string | readonly ProbeRequest[] | Promise<Ipn | ProbeRequest | string>,
  mistake: MistakeName = 'signature-not-checked',
): AuditCase {
  const text = { name, class: kind, group: 'sender', about, harm: HARM, mistake } as const;
  return refuses(text, async (target) => {
    const forged = await forge(target.ipn, target);
    return typeof forged === 'string' || Array.isArray(forged) || 'url' in forged
      ? (forged as string | ProbeRequest | readonly ProbeRequest[])
      : target.post(forged as Ipn);
  });
}

/** Signed with a key that is not the merchant's. */
function signedWith(key: string) {
  return (ipn: Ipn, { shop }: Target) =>
    key === shop.parts.gateway.secretKey
      ? 'this is the secret key of the merchant itself: start the emulator with another one'
      : ipn.signedWith(key);
}

const bytesOf = (hex: string) => Buffer.from(hex, 'hex').toString('base64');

/** Flags by which a shop may tell that a request is a test. */
const TEST_FLAGS: readonly Pair[] = [
  ['test', '1'],
  ['sandbox', '1'],
  ['mode', 'sandbox'],
  ['mode', 'test'],
  ['environment', 'sandbox'],
  ['debug', '1'],
];

const inQuery = (url: string, [name, value]: Pair): string => {
  const address = new URL(url);
  address.searchParams.append(name, value);
  return address.href;
};

/** Where the identifier of the victim can stand beside that of the attacker's own genuine IPN. */
const SECOND_IDENTIFIERS: readonly (readonly [
  name: string,
  where: string,
  make: (own: Ipn, target: Target) => ProbeRequest,
])[] = [
  ['last', 'behind it', (own, { payment, post }) => post(own.and(['identifier', payment.identifier]))],
  ['first', 'before it', (own, { payment, post }) => post(own.after(['identifier', payment.identifier]))],
  [
    'array',
    'as identifier[]',
    (own, { payment, post }) => post(own.and(['identifier[]', payment.identifier])),
  ],
  [
    'nested',
    'as data[identifier]',
    (own, { payment, post }) => post(own.and(['data[identifier]', payment.identifier])),
  ],
  [
    'query',
    'in the query of the address',
    (own, { payment, post }) => {
      const shot = post(own);
      return { ...shot, url: inQuery(shot.url, ['identifier', payment.identifier]) };
    },
  ],
  [
    'body',
    'in the body, its own in the query',
    (own, { payment, post }) => {
      const shot = post(own.set('identifier', payment.identifier));
      return { ...shot, url: inQuery(shot.url, ['identifier', own.get('identifier')]) };
    },
  ],
];

export const SENDER: readonly AuditCase[] = [
  sender('signature-missing', 'A', 'An IPN without a signature.', (ipn) => ipn.unset('signature')),
  sender('signature-garbage', 'A', 'An IPN with any 64 digits as its signature.', (ipn) => ipn.badlySigned()),
  sender(
    'signature-other-secret',
    'A',
    'An IPN signed with some other key.',
    signedWith('not-the-secret-key'),
  ),
  sender(
    'signature-public-key',
    'A',
    'An IPN signed with the public key, which every page may show.',
    (ipn, { shop }) => ipn.signedWith(shop.parts.gateway.publicKey),
  ),
  sender('signature-lower-case', 'A', 'A wrong signature in lower case.', (ipn) => {
    const wrong = ipn.signedWith('not-the-secret-key');
    return wrong.set('signature', wrong.get('signature').toLowerCase());
  }),
  sender('signature-base64', 'A', 'A wrong signature in base64.', (ipn) => {
    const wrong = ipn.signedWith('not-the-secret-key');
    return wrong.set('signature', bytesOf(wrong.get('signature')));
  }),
  sender(
    'signature-other-order',
    'A',
    'The genuine signature of another order.',
    async (ipn, { shop, payment }) => {
      const { amount, currency } = payment;
      const other = await shop.attackerIpn({ amount, currency });
      return ipn.set('signature', other.get('signature'));
    },
  ),
  sender(
    'signature-garbage-test-flag',
    'A',
    'A bad signature beside flags that call the request a test: test=1, sandbox=1, mode=sandbox and the like.',
    (ipn, { post }) =>
      TEST_FLAGS.flatMap((flag) => {
        const inBody = post(ipn.badlySigned().and(flag));
        const plain = post(ipn.badlySigned());
        return [inBody, { ...plain, url: inQuery(plain.url, flag) }];
      }),
  ),
  sender(
    'signature-empty',
    'B',
    'An empty signature.',
    (ipn) => ipn.set('signature', ''),
    'fields-not-required',
  ),
  sender(
    'signature-null',
    'B',
    'The text null as signature.',
    (ipn) => ipn.set('signature', 'null'),
    'fields-not-required',
  ),
  sender(
    'signature-empty-array',
    'B',
    'The signature as an empty list, at which a check may break off.',
    (ipn) => ipn.set('signature', '').renamed('signature', (name) => `${name}[]`),
    'fields-not-required',
  ),
  sender(
    'data-missing',
    'B',
    'An IPN without its data, signed over the identifier alone by a key that is empty.',
    (ipn) => ipn.set('amount', '').signedWith('').withoutGroups(),
    'fields-not-required',
  ),
  sender(
    'secret-empty',
    'C',
    'Signed with an empty key, as of a shop without configuration.',
    signedWith(''),
    'secret-known',
  ),
  sender(
    'secret-null',
    'C',
    'Signed with the text null as key.',
    (ipn, { post }) => ['null', 'undefined', 'None', 'false', '0'].map((key) => post(ipn.signedWith(key))),
    'secret-known',
  ),
  sender(
    'secret-of-documentation',
    'C',
    'Signed with the keys that stand in documentation and examples.',
    (ipn, { shop, post }) =>
      EXAMPLE_KEYS.filter((key) => key !== shop.parts.gateway.secretKey).map((key) =>
        post(ipn.signedWith(key)),
      ),
    'secret-known',
  ),
  sender(
    'secret-of-emulator',
    'C',
    'Signed with the key that every fresh emulator has.',
    signedWith(DEFAULT_KEY),
    'secret-known',
  ),
  sender(
    'origin-spoofed',
    'I',
    'A bad signature beside headers that name the gateway as the sender.',
    (ipn, { post, shop }) => ({
      ...post(ipn.badlySigned()),
      headers: [
        ['X-Forwarded-For', '127.0.0.1'],
        ['X-Real-IP', '127.0.0.1'],
        ['X-Forwarded-Host', new URL(shop.parts.gateway.url).host],
        ['Origin', shop.parts.gateway.url],
        ['Referer', `${shop.parts.gateway.url}/`],
      ],
    }),
    'headers-trusted',
  ),
  sender(
    'signature-array',
    'J',
    'The signature as a list of one.',
    (ipn) => ipn.badlySigned().renamed('signature', (name) => `${name}[]`),
    'fields-not-required',
  ),
  sender(
    'signature-nested',
    'J',
    'The signature as a group of fields.',
    (ipn) => ipn.set('signature', '1').renamed('signature', (name) => `${name}[value]`),
    'fields-not-required',
  ),
  sender(
    'amount-array',
    'J',
    'The amount as a list, with a signature over what a list is turned into.',
    (ipn) => {
      const amount = ipn.get('amount');
      const forged = ipn.set('amount', 'Array').signedWith('');
      return forged.set('amount', amount).renamed('amount', (name) => `${name}[]`);
    },
    'fields-not-required',
  ),
  sender(
    'identifier-array',
    'J',
    'The identifier as a list of one.',
    (ipn) => ipn.badlySigned().renamed('identifier', (name) => `${name}[]`),
    'fields-not-required',
  ),
  ...(
    [
      ['true', true],
      ['zero', 0],
      ['null', null],
    ] as const
  ).map(([name, signature]) =>
    sender(
      `signature-json-${name}`,
      'J',
      `A JSON body whose signature is ${signature}, which a loose comparison may call equal.`,
      (ipn, { payment, shop }) => ({
        url: shop.addressOf(payment),
        contentType: 'application/json',
        body: JSON.stringify({ ...ipn.fields, [ipn.nameOf('signature')]: signature }),
      }),
      'fields-not-required',
    ),
  ),
  sender('signature-magic-hash', 'J', 'The signature 0e123, which a loose comparison calls zero.', (ipn) =>
    ipn.set('signature', '0e123'),
  ),
  sender(
    'fields-doubled',
    'J',
    'Each field twice, so that only a mixture of first and last readings is genuine.',
    (ipn) => {
      const [signature, amount] = [ipn.get('signature'), ipn.get('amount')];
      return ipn
        .badlySigned()
        .and([ipn.nameOf('amount'), `9${amount}`], [ipn.nameOf('signature'), signature]);
    },
    'fields-not-required',
  ),
  ...SECOND_IDENTIFIERS.map(([name, where, make]) =>
    sender(
      `identifier-doubled-${name}`,
      'J',
      `The attacker's own genuine IPN with the identifier of the order ${where}: one is verified, the other looked up.`,
      async (_, target) => {
        const { amount, currency } = target.payment;
        return make(await target.shop.attackerIpn({ amount, currency }), target);
      },
      'order-not-by-identifier',
    ),
  ),
  sender(
    'data-as-text',
    'J',
    'The data as one text of JSON, with a bad signature.',
    (ipn) =>
      ipn
        .badlySigned()
        .withoutGroups()
        .and(['data', JSON.stringify(ipn.fields['data'] ?? {})]),
    'fields-not-required',
  ),
];
