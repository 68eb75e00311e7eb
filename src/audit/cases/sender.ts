import { JSON_TYPE } from '../../contract/media-types.ts';
import { INITIATE_FIELDS } from '../../contract/request-fields.ts';
import { DEFAULT_KEYS, EXAMPLE_KEYS } from '../../contract/sample-values.ts';
import type { ExchangeRequest } from '../../delivery/exchange.ts';
import { IPN_NAMES } from '../../service/names.ts';
import { WRONG_SIGNATURE } from '../../shop/witness.ts';
import {
  type AuditCase,
  type Cases,
  type Forge,
  family,
  PAYS_ORDERS,
  rejects,
  type Target,
  withoutPlace,
} from '../case.ts';
import { type Fields, type Ipn, type Pair, withQuery } from '../ipn.ts';
import type { MistakeName } from '../mistakes.ts';
import { AS_FORM, asJson, OTHER_TRANSPORTS, type Transport } from '../transports.ts';

/*
 * Who sent an IPN. Authentication must hold on every way into a handler, so each transport is tried with each signature
 * that does not authenticate. Everything else that may stand for a valid signature is tried with a form, as real IPNs are.
 */

/** Forgeries must neither pay the order nor change it. */
const forged = (forge: Forge) => rejects(forge, { leavesNoTraces: true });

const ofSender = (common: Pick<AuditCase, 'class' | 'mistake'>) =>
  family({ group: 'sender', harm: PAYS_ORDERS, ...common });

const OTHER_KEY = 'not-the-secret-key';

/** A signature that does not authenticate an IPN. */
interface WrongSignature {
  about: string;
  /** The values to try: texts, other JSON values, or undefined for none. */
  values: (ipn: Ipn, secretKey: string) => readonly unknown[];
  class: 'A' | 'B' | 'J';
  /** What a handler of forms lacks that accepts it. Default: the check of the signature. */
  mistake?: MistakeName;
}

const SIGNATURES: Readonly<Record<string, WrongSignature>> = {
  missing: { about: 'without a signature', values: () => [undefined], class: 'A' },
  garbage: {
    about:
      'with 64 arbitrary digits as its signature, with their base64, and with letters that are not ASCII',
    values: () => [
      WRONG_SIGNATURE,
      Buffer.from(WRONG_SIGNATURE, 'hex').toString('base64'),
      'é'.repeat(WRONG_SIGNATURE.length),
    ],
    class: 'A',
  },
  'other-secret': {
    about: 'signed with a different key',
    values: (ipn) => [ipn.signedWith(OTHER_KEY).get('signature')],
    class: 'A',
  },
  'lower-case': {
    about: 'with a wrong signature in lower case',
    values: (ipn) => [ipn.signedWith(OTHER_KEY).get('signature').toLowerCase()],
    class: 'A',
  },
  beginning: {
    about: 'with only the first digits of its signature, which an attacker can find by trial and error',
    values: (ipn, secretKey) => {
      const genuine = ipn.signedWith(secretKey).get('signature');
      const begin = genuine.slice(0, 8);
      return [begin, begin.padEnd(genuine.length, genuine.endsWith('0') ? '1' : '0')];
    },
    class: 'A',
  },
  empty: {
    about: 'with an empty signature',
    values: () => [''],
    class: 'B',
    mistake: 'fields-not-required',
  },
  literal: {
    about: 'with the signature null, true, 0, or 0e123, which a loose comparison reads as zero',
    values: () => [null, true, 0, '0e123'],
    class: 'J',
  },
  list: {
    about: 'with a list as its signature, empty or with one entry',
    values: () => [[], [WRONG_SIGNATURE]],
    class: 'J',
    mistake: 'fields-not-required',
  },
  object: {
    about: 'with an object as its signature',
    values: () => [{ $ne: '1' }],
    class: 'J',
    mistake: 'fields-not-required',
  },
};

/** An IPN with each of the wrong values of its signature. */
const withSignatures = (transport: Transport, values: WrongSignature['values']) =>
  forged((target) => {
    const { shop, payment, ipn } = target;
    const fields = shop.jsonOf(payment);
    return values(ipn, shop.gateway.secretKey).map((value) =>
      transport.send({ ...fields, [IPN_NAMES.signature]: value }, target),
    );
  });

/** Each signature as a form, as real IPNs are, and all of them in each other transport. */
const AUTHENTICATION: readonly AuditCase[] = [
  ...Object.entries(SIGNATURES).flatMap(([name, { about, values, class: kind, mistake }]) =>
    ofSender({ class: kind, mistake: mistake ?? 'signature-not-checked' })({
      [`signature-${name}`]: {
        about: `An IPN ${about}, ${AS_FORM.about}.`,
        run: withSignatures(AS_FORM, values),
      },
    }),
  ),
  ...ofSender({ class: 'A', mistake: 'signature-not-checked' })(
    Object.fromEntries(
      Object.entries(OTHER_TRANSPORTS).map(([name, transport]) => [
        `${name}-signature`,
        {
          about: `IPNs with each of these wrong signatures, or without one, ${transport.about}.`,
          run: withSignatures(transport, (ipn, secretKey) =>
            Object.values(SIGNATURES).flatMap(({ values }) => values(ipn, secretKey)),
          ),
        },
      ]),
    ),
  ),
];

const SHORTEST_DIGEST = 32;

/** The parts of an address that are long enough to be a digest. */
function digestsIn(url: string): string[] {
  if (!URL.canParse(url)) return [];
  const { pathname, searchParams } = new URL(url);
  return [...searchParams.values(), ...pathname.split('/')].filter(({ length }) => length >= SHORTEST_DIGEST);
}

/** Signs with a key that is not the merchant's. */
const signedWith =
  (key: string): Forge =>
  ({ ipn, shop }) =>
    key === shop.gateway.secretKey
      ? 'the emulator itself uses this key, so the IPN would be genuine; to run this case, start it with another --secret-key'
      : ipn.signedWith(key);

/** Flags that may make a shop treat a request as a test, or as one that needs no signature. */
const FLAGS: readonly Pair[] = [
  ['test', '1'],
  ['sandbox', '1'],
  ['mode', 'sandbox'],
  ['mode', 'test'],
  ['environment', 'sandbox'],
  ['debug', '1'],
  ['type', 'test'],
  ['algorithm', 'none'],
  ['alg', 'none'],
  ['signature_method', 'none'],
];
const FLAG_HEADERS: readonly Pair[] = [
  ['X-Test', '1'],
  ['X-Test-Mode', '1'],
  ['X-Sandbox', '1'],
  ['X-Debug', '1'],
  ['X-Environment', 'sandbox'],
  ['Cookie', 'test=1; sandbox=1; debug=1'],
];

/** Without a signature, and with a wrong one: a shop may only skip the check of one of them. */
const unauthentic = (ipn: Ipn) => [ipn.unset('signature'), ipn.badlySigned()];

const LOCAL_ADDRESSES = ['127.0.0.1', '::1', '10.0.0.1', '172.16.0.1', '192.168.0.1', '127.0.0.1, 192.0.2.1'];
const ADDRESS_HEADERS = [
  'X-Forwarded-For',
  'X-Real-IP',
  'X-Client-IP',
  'Client-IP',
  'True-Client-IP',
  'CF-Connecting-IP',
];

/** Addresses that a router may map to the same handler as this one, and a check before it may not. */
function pathsLike(url: string): string[] {
  const { origin, pathname, search } = new URL(url);
  const last = pathname.at(-1) ?? '';
  const paths = [
    `${pathname}/`,
    `/${pathname}`,
    pathname.toUpperCase(),
    `${pathname.slice(0, -1)}%${last.charCodeAt(0).toString(16)}`,
    `${pathname}.json`,
    `${pathname};x=1`,
  ];
  return paths.map((path) => origin + path + search);
}

const inQuery = (request: ExchangeRequest, pair: Pair): ExchangeRequest => ({
  ...request,
  url: withQuery(request.url, pair),
});

const asList = (name: string) => `${name}[]`;

/** A second identifier in the attacker's own genuine IPN: that of the order. */
interface SecondIdentifier {
  where: string;
  form: (own: Ipn, victim: Pair, target: Target) => Ipn | ExchangeRequest | readonly ExchangeRequest[];
  /** The same in JSON text, if JSON can say it. */
  json?: (own: Fields, victim: Pair) => string;
  mistake?: MistakeName;
}

/** Names under which a shop may look for its order. */
const ORDER_NAMES = [
  'order_id',
  'orderId',
  'order',
  'id',
  'reference',
  'ref',
  'custom',
  'invoice',
  'invoice_id',
];

const member = ([name, value]: Pair) => `${JSON.stringify(name)}:${JSON.stringify(value)}`;

const SECOND_IDENTIFIERS: Readonly<Record<string, SecondIdentifier>> = {
  last: {
    where: 'after its own',
    form: (own, victim) => own.and(victim),
    json: (own, victim) => `${JSON.stringify(own).slice(0, -1)},${member(victim)}}`,
  },
  first: {
    where: 'before its own',
    form: (own, victim) => own.after(victim),
    json: (own, victim) => `{${member(victim)},${JSON.stringify(own).slice(1)}`,
  },
  array: {
    where: 'in a list with its own',
    form: (own, [name, id]) => own.and([asList(name), id]),
    json: (own, [name, id]) => JSON.stringify({ ...own, [name]: [own[name], id] }),
  },
  nested: {
    where: 'in its data',
    form: (own, [name, id]) => own.and([`data[${name}]`, id]),
    json: (own, [name, id]) => JSON.stringify({ ...own, data: { ...(own['data'] as Fields), [name]: id } }),
  },
  query: { where: 'in the query string', form: (own, victim, { post }) => inQuery(post(own), victim) },
  body: {
    where: 'in the body and its own in the query string',
    form: (own, [name, id], { post }) =>
      inQuery(post(own.set('identifier', id)), [name, own.get('identifier')]),
    mistake: 'signature-not-checked',
  },
  whole: {
    where: 'in a second IPN, in the query string or a list',
    form: (own, [, id], target) => {
      const { post, ipn } = target;
      const forged = own.set('identifier', id).set('amount', ipn.get('amount'));
      return [
        asJson(JSON.stringify([own.fields, forged.fields]), target),
        { ...post(forged), url: withQuery(post(forged).url, ...own.pairs) },
        ...['POST', 'PUT', 'PATCH'].map((method) => ({
          ...post(own),
          method,
          url: withQuery(post(own).url, ...forged.pairs),
        })),
      ];
    },
    mistake: 'signature-not-checked',
  },
  renamed: {
    where: 'under other names, such as order_id',
    form: (own, [, id], { post }) => {
      const others = ORDER_NAMES.map((name): Pair => [name, id]);
      const inBody = own.and(...others);
      return [post(inBody), { ...post(own), url: withQuery(post(own).url, ...others) }];
    },
    json: (own, [, id]) =>
      JSON.stringify({ ...own, ...Object.fromEntries(ORDER_NAMES.map((name) => [name, id])) }),
  },
};

const secondIdentifiers: Cases = Object.fromEntries(
  Object.entries(SECOND_IDENTIFIERS).map(
    ([name, { where, form, json, mistake = 'order-not-by-identifier' }]) => [
      `identifier-doubled-${name}`,
      {
        about: `The attacker's own genuine IPN with the order's identifier ${where}: a shop may verify one and look up the other.`,
        run: forged(async (target) => {
          const { shop, payment } = target;
          const own = await shop.attackerIpn(payment);
          const victim = [own.nameOf('identifier'), payment.identifier] as const;
          const texts = json ? [json(own.fields, victim)] : [];
          return [form(own, victim, target), ...texts.map((text) => asJson(text, target))].flat();
        }),
        mistake,
      },
    ],
  ),
);

/** What a list or an object with an identifier becomes as text, in PHP, JavaScript and Python. */
const asText = (id: string) => ['Array', '[object Object]', `['${id}']`, `["${id}"]`, `[${id}]`];

/** The attacker's own genuine IPN for an identifier that a list or an object becomes as text, and then the list or object. */
const identifierAsText: Forge = async (target) => {
  const { shop, payment } = target;
  const id = payment.identifier;
  const requests: (Ipn | ExchangeRequest)[] = [];
  for (const text of asText(id).filter(({ length }) => length <= INITIATE_FIELDS.identifier.max)) {
    const own = await shop.attackerIpn(payment, text);
    const name = own.nameOf('identifier');
    const isObject = text.includes('Object');
    const shape = isObject ? { $eq: id } : [id];
    const named = isObject ? `${name}[$eq]` : asList(name);
    requests.push(own.set('identifier', id).renamed('identifier', () => named));
    requests.push(asJson(JSON.stringify({ ...own.fields, [name]: shape }), target));
  }
  return requests;
};

/** Names under which a shop may keep its key. */
const KEY_NAMES = ['secret', 'secret_key', 'secretKey', 'SECRET_KEY', 'key', 'api_key', 'signing_key'];

/** Names under which a shop may read whose key to use. */
const MERCHANT_NAMES = ['public_key', 'merchant', 'merchant_id', 'account', 'key_id', 'shop_id'];
const NO_MERCHANT = 'nobody';
/** Modes for which a shop may have no key. */
const MODES_OF_TESTS = ['test', 'sandbox'];

/** What an empty or missing key becomes as text. */
const MISSING_KEYS = ['', 'null', 'undefined', 'None', 'false', '0'];

/**
 * An IPN that brings the key it is signed with: a shop that copies every field into its variables uses that. Or it names a
 * merchant for whom the shop has no key.
 */
const withItsKey: Forge = (target) => {
  const { ipn, post } = target;
  const keys = KEY_NAMES.map((name): Pair => [name, OTHER_KEY]);
  const merchants = MERCHANT_NAMES.map((name): Pair => [name, NO_MERCHANT]);
  const forged = ipn.signedWith(OTHER_KEY);
  const inBody = forged.and(...keys);
  return [
    ...MISSING_KEYS.flatMap((key) => {
      const own = post(ipn.signedWith(key));
      const others = [NO_MERCHANT, ...(key === '' ? MODES_OF_TESTS : [])];
      const urls = others.flatMap((one) => [
        ...withEachParameter(own.url, one),
        ...withEachSegment(own.url, one),
      ]);
      return [ipn.signedWith(key).and(...merchants), ...urls.map((url) => ({ ...own, url }))];
    }),
    { ...post(forged), url: withQuery(post(forged).url, ...keys) },
    asJson(JSON.stringify(inBody.fields), target),
    inBody,
  ];
};

/** The address with another value in each segment of its path but the first: one of them may name the merchant. */
function withEachSegment(url: string, value: string): string[] {
  const address = new URL(url);
  const segments = address.pathname.split('/');
  return segments.flatMap((segment, index) => {
    if (index < 2 || segment === '') return [];
    return [address.origin + segments.with(index, value).join('/') + address.search];
  });
}

/** The address with another value in each of its query parameters: one of them may name the merchant. */
function withEachParameter(url: string, value: string): string[] {
  return [...new Set(new URL(url).searchParams.keys())].map((name) => {
    const address = new URL(url);
    address.searchParams.set(name, value);
    return address.href;
  });
}

export const SENDER: readonly AuditCase[] = [
  ...AUTHENTICATION,
  ...ofSender({ class: 'A', mistake: 'signature-not-checked' })({
    'refused-effects': {
      about: 'What IPNs with a wrong signature changed in the database.',
      needs: 'db',
      run: async (shop) => {
        const suspects = shop.witness?.suspects ?? [];
        const places = suspects.filter((place) => !shop.isNamedLog(place));
        const nothing = { sent: 'IPNs with a wrong signature, for two orders', curl: null };
        if (!places.length) return { ...nothing, verdict: 'pass', observed: 'they changed nothing but logs' };
        const list = places.join(', ');
        const harm = `Anyone who knows the ipn_url can cause this without paying: ${list}.`;
        const flags = places.map((place) => `--log ${place}`).join(' ');
        const why = places.some((place) => shop.isEffect(place))
          ? harm
          : `${harm} Only if this merely records IPNs, say so with ${flags}.`;
        return {
          ...nothing,
          verdict: 'fail',
          observed: `they changed ${list}`,
          why,
          because: { mistake: 'effects-before-checks', harm },
        };
      },
    },
    'signature-public-key': {
      about: 'An IPN signed with the public key, which anyone can read.',
      run: forged(({ ipn, shop }) => ipn.signedWith(shop.gateway.publicKey)),
    },
    'signature-other-order': {
      about: 'An IPN with the genuine signature of another order.',
      run: forged(async ({ shop, payment, ipn }) =>
        ipn.set('signature', (await shop.attackerIpn(payment)).get('signature')),
      ),
    },
    'signature-in-address': {
      about:
        'An IPN whose signature is a token of the success_url or cancel_url: a shop may make both in the same way.',
      run: forged(({ ipn, payment }) => {
        const seen = [...new Set([payment.successUrl, payment.cancelUrl].flatMap(digestsIn))];
        return seen.length
          ? seen
              .flatMap((token) => [token, token.toUpperCase(), token.toLowerCase()])
              .map((token) => ipn.set('signature', token))
          : { safe: 'the addresses that a browser sees have no token' };
      }),
    },
    'signature-of-paid-order': {
      about:
        'An IPN with the signature of an order that its genuine IPN has paid: a shop may remember it as valid.',
      run: forged(({ shop, ipn }) => {
        const signatures = shop.settled.map(({ payment }) => shop.ipnOf(payment).get('signature'));
        return signatures.length
          ? signatures.slice(-2).map((signature) => ipn.set('signature', signature))
          : 'no order is paid';
      }),
    },
    'signature-garbage-test-flag': {
      about:
        'An unsigned or incorrectly signed IPN with a flag, such as test=1, mode=sandbox or algorithm=none, in the body, the query or a header.',
      run: forged(({ ipn, post }) =>
        unauthentic(ipn).flatMap((one) => [
          ...FLAGS.flatMap((flag) => [one.and(flag), inQuery(post(one), flag)]),
          { ...post(one), headers: FLAG_HEADERS },
        ]),
      ),
    },
    'forged-path': {
      about:
        'An unsigned or incorrectly signed IPN to an address that a server may treat like the ipn_url, such as one with another slash.',
      run: withoutPlace(
        forged(({ ipn, post }) =>
          unauthentic(ipn).flatMap((one) => pathsLike(post(one).url).map((url) => ({ ...post(one), url }))),
        ),
      ),
    },
    'forged-method': {
      about:
        'An unsigned or incorrectly signed IPN with the method PATCH, DELETE or HEAD, or as an override.',
      run: forged(({ ipn, post }) =>
        unauthentic(ipn).flatMap((one) => [
          { ...post(one), method: 'PATCH' },
          { ...post(one), method: 'DELETE' },
          { url: withQuery(post(one).url, ...one.pairs), method: 'HEAD' },
          { ...post(one.and(['_method', 'GET'])), headers: [['X-HTTP-Method-Override', 'GET']] },
        ]),
      ),
    },
    'forged-body': {
      about:
        'An unsigned or incorrectly signed IPN in chunks, and with content types that do not match its body.',
      run: forged(({ ipn, post }) =>
        unauthentic(ipn).flatMap((one) => [
          { ...post(one), manner: 'chunked' },
          { ...post(one), contentType: 'text/plain' },
          { ...post(one), contentType: JSON_TYPE },
          { ...post(one), contentType: 'text/plain', body: JSON.stringify(one.fields) },
          { ...post(one), contentType: `${JSON_TYPE}; charset=utf-16`, body: JSON.stringify(one.fields) },
        ]),
      ),
    },
  }),
  ...ofSender({ class: 'B', mistake: 'fields-not-required' })({
    'data-missing': {
      about: 'An IPN without its data, signed with an empty key over the identifier only.',
      run: forged(({ ipn }) => ipn.set('amount', '').signedWith('').withoutGroups()),
    },
  }),
  ...ofSender({ class: 'C', mistake: 'secret-known' })({
    'secret-empty': {
      about:
        'An IPN signed with an empty key, which an unconfigured shop uses, or with its text, such as null; also with flags that may choose the key of tests.',
      run: forged(({ ipn, post, shop }) => {
        // A parameter has one value, so each of the modes needs a request.
        const inMode = (mode: string) => FLAGS.filter(([name, value]) => name !== 'mode' || value === mode);
        const flags = [inMode('test'), inMode('sandbox')];
        const keys = MISSING_KEYS.filter((key) => key !== shop.gateway.secretKey);
        return keys
          .map((key) => ipn.signedWith(key))
          .flatMap((own) => [
            own,
            ...flags.map((all) => own.and(...all)),
            ...flags.map((all) => ({ ...post(own), url: withQuery(post(own).url, ...all) })),
          ]);
      }),
    },
    'secret-in-request': {
      about:
        'An IPN that brings the key it is signed with, under names such as secret_key, or names a merchant or a mode for which the shop has no key: in a field, or in each parameter and segment of the ipn_url.',
      run: forged(withItsKey),
    },
    'secret-of-documentation': {
      about: 'An IPN signed with keys from documentation and examples.',
      run: forged(({ ipn, shop }) =>
        EXAMPLE_KEYS.filter((key) => key !== shop.gateway.secretKey).map((key) => ipn.signedWith(key)),
      ),
    },
    'secret-of-emulator': {
      about: 'An IPN signed with the default key of the emulator.',
      run: forged(signedWith(DEFAULT_KEYS.secretKey)),
    },
  }),
  ...ofSender({ class: 'I', mistake: 'headers-trusted' })({
    'origin-spoofed': {
      about: 'An unsigned or incorrectly signed IPN with headers that name the gateway as the sender.',
      run: forged(({ ipn, post, shop: { gateway } }) =>
        unauthentic(ipn).map((one) => ({
          ...post(one),
          headers: [
            ['X-Forwarded-For', '127.0.0.1'],
            ['X-Real-IP', '127.0.0.1'],
            ['X-Forwarded-Host', new URL(gateway.url).host],
            ['Origin', gateway.url],
            ['Referer', `${gateway.url}/`],
            ['Authorization', `Bearer ${gateway.publicKey}`],
          ],
        })),
      ),
    },
    'address-spoofed': {
      about:
        'An unsigned or incorrectly signed IPN with a loopback or private address in the headers of proxies.',
      run: forged(({ ipn, post }) =>
        unauthentic(ipn).flatMap((one) =>
          LOCAL_ADDRESSES.map((address) => ({
            ...post(one),
            headers: ADDRESS_HEADERS.map((name) => [name, address] as const),
          })),
        ),
      ),
    },
  }),
  ...ofSender({ class: 'J', mistake: 'fields-not-required' })({
    'amount-array': {
      about: 'An IPN whose amount is a list, signed over the text that PHP converts it to: Array.',
      run: forged(({ ipn }) => {
        const forged = ipn.set('amount', 'Array').signedWith('');
        return forged.set('amount', ipn.get('amount')).renamed('amount', asList);
      }),
    },
    'identifier-array': {
      about: 'An IPN whose identifier is a list with one entry.',
      run: forged(({ ipn }) => ipn.badlySigned().renamed('identifier', asList)),
    },
    'identifier-as-text': {
      about:
        "The attacker's own genuine IPN for the identifier that a list or an object becomes as text, such as Array, with the order's identifier in that list or object.",
      run: forged(identifierAsText),
    },
    'fields-doubled': {
      about:
        'An IPN with two values in some fields: only a handler that mixes first and last values finds a valid signature.',
      run: forged(({ ipn }) => {
        const [signature, amount] = [ipn.get('signature'), ipn.get('amount')];
        return ipn
          .badlySigned()
          .and([ipn.nameOf('amount'), `9${amount}`], [ipn.nameOf('signature'), signature]);
      }),
    },
    ...secondIdentifiers,
  }),
];
