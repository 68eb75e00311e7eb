import { DEFAULT_KEYS, EXAMPLE_KEYS } from '../../contract/defaults.ts';
import {
  type AuditCase,
  type Cases,
  type Forge,
  family,
  PAYS_ORDERS,
  rejects,
  type Target,
} from '../case.ts';
import type { ProbeRequest } from '../client.ts';
import { type Ipn, type Pair, withQuery } from '../ipn.ts';
import type { MistakeName } from '../mistakes.ts';

/** Forgeries must neither pay the order nor change it. */
const forged = (forge: Forge) => rejects(forge, undefined, true);

const OTHER_KEY = 'not-the-secret-key';

/** Signs with a key that is not the merchant's. */
const signedWith =
  (key: string): Forge =>
  ({ ipn, shop }) =>
    key === shop.gateway.secretKey
      ? 'the emulator itself uses this key, so the IPN would be genuine; to run this case, start it with another --secret-key'
      : ipn.signedWith(key);

/** Flags that may make a shop treat a request as a test. */
const TEST_FLAGS: readonly Pair[] = [
  ['test', '1'],
  ['sandbox', '1'],
  ['mode', 'sandbox'],
  ['mode', 'test'],
  ['environment', 'sandbox'],
  ['debug', '1'],
];

const LOCAL_ADDRESSES = ['127.0.0.1', '::1', '10.0.0.1', '172.16.0.1', '192.168.0.1'];

const inQuery = (request: ProbeRequest, pair: Pair): ProbeRequest => ({
  ...request,
  url: withQuery(request.url, pair),
});

const asList = (name: string) => `${name}[]`;

/** An IPN as JSON with a signature that may pass a loose comparison. */
const jsonSigned = (signature: unknown) =>
  forged(({ shop, payment, ipn, post }) => {
    const body = JSON.stringify({ ...shop.jsonOf(payment), [ipn.nameOf('signature')]: signature });
    return { ...post(ipn), contentType: 'application/json', body };
  });

/** The attacker's own genuine IPN, to which the victim's identifier is added. */
const secondIdentifier = (
  name: string,
  where: string,
  add: (own: Ipn, victim: Pair, target: Target) => Ipn | ProbeRequest,
  mistake: MistakeName = 'order-not-by-identifier',
): Cases => ({
  [`identifier-doubled-${name}`]: {
    about: `The attacker's own genuine IPN with the order's identifier ${where}: a shop may verify one and look up the other.`,
    run: forged(async (target) => {
      const { shop, payment } = target;
      return add(await shop.attackerIpn(payment), ['identifier', payment.identifier], target);
    }),
    mistake,
  },
});

const ofSender = (common: Pick<AuditCase, 'class' | 'mistake'>) =>
  family({ group: 'sender', harm: PAYS_ORDERS, ...common });

export const SENDER: readonly AuditCase[] = [
  ...ofSender({ class: 'A', mistake: 'signature-not-checked' })({
    'signature-missing': {
      about: 'An IPN without a signature.',
      run: forged(({ ipn }) => ipn.unset('signature')),
    },
    'signature-garbage': {
      about: 'An IPN with 64 arbitrary digits as its signature.',
      run: forged(({ ipn }) => ipn.badlySigned()),
    },
    'signature-other-secret': {
      about: 'An IPN signed with a different key.',
      run: forged(signedWith(OTHER_KEY)),
    },
    'signature-public-key': {
      about: 'An IPN signed with the public key, which anyone can read.',
      run: forged(({ ipn, shop }) => ipn.signedWith(shop.gateway.publicKey)),
    },
    'signature-lower-case': {
      about: 'An IPN with a wrong signature in lower case.',
      run: forged(({ ipn }) =>
        ipn.set('signature', ipn.signedWith(OTHER_KEY).get('signature').toLowerCase()),
      ),
    },
    'signature-beginning': {
      about:
        'An IPN with only the first digits of its signature, which an attacker can find by trial and error.',
      run: forged(({ ipn, shop }) => {
        const genuine = ipn.signedWith(shop.gateway.secretKey).get('signature');
        const wrongEnd = genuine.endsWith('0') ? '1' : '0';
        return [genuine.slice(0, 1), genuine.slice(0, 8)]
          .flatMap((begin) => [begin, begin.padEnd(genuine.length, wrongEnd)])
          .map((signature) => ipn.set('signature', signature));
      }),
    },
    'signature-base64': {
      about: 'An IPN with a wrong signature in base64.',
      run: forged(({ ipn }) => {
        const wrong = Buffer.from(ipn.signedWith(OTHER_KEY).get('signature'), 'hex');
        return ipn.set('signature', wrong.toString('base64'));
      }),
    },
    'signature-other-order': {
      about: 'An IPN with the genuine signature of another order.',
      run: forged(async ({ shop, payment, ipn }) =>
        ipn.set('signature', (await shop.attackerIpn(payment)).get('signature')),
      ),
    },
    'signature-garbage-test-flag': {
      about: 'An incorrectly signed IPN with a test flag, such as test=1, sandbox=1 or mode=sandbox.',
      run: forged(({ ipn, post }) =>
        TEST_FLAGS.flatMap((flag) => [ipn.badlySigned().and(flag), inQuery(post(ipn.badlySigned()), flag)]),
      ),
    },
  }),
  ...ofSender({ class: 'B', mistake: 'fields-not-required' })({
    'signature-empty': {
      about: 'An IPN with an empty signature.',
      run: forged(({ ipn }) => ipn.set('signature', '')),
    },
    'signature-null': {
      about: 'An IPN with the text null as its signature.',
      run: forged(({ ipn }) => ipn.set('signature', 'null')),
      mistake: 'signature-not-checked',
    },
    'signature-empty-array': {
      about: 'An IPN with an empty list as its signature, which may crash the check.',
      run: forged(({ ipn }) => ipn.set('signature', '').renamed('signature', asList)),
    },
    'data-missing': {
      about: 'An IPN without its data, signed with an empty key over the identifier only.',
      run: forged(({ ipn }) => ipn.set('amount', '').signedWith('').withoutGroups()),
    },
  }),
  ...ofSender({ class: 'C', mistake: 'secret-known' })({
    'secret-empty': {
      about: 'An IPN signed with an empty key, which an unconfigured shop uses.',
      run: forged(signedWith('')),
    },
    'secret-null': {
      about: 'An IPN signed with the text null as the key.',
      run: forged(({ ipn }) => ['null', 'undefined', 'None', 'false', '0'].map((key) => ipn.signedWith(key))),
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
      about: 'An incorrectly signed IPN with headers that name the gateway as the sender.',
      run: forged(({ ipn, post, shop: { gateway } }) => ({
        ...post(ipn.badlySigned()),
        headers: [
          ['X-Forwarded-For', '127.0.0.1'],
          ['X-Real-IP', '127.0.0.1'],
          ['X-Forwarded-Host', new URL(gateway.url).host],
          ['Origin', gateway.url],
          ['Referer', `${gateway.url}/`],
        ],
      })),
    },
    'address-spoofed': {
      about: 'An incorrectly signed IPN with a loopback or private address in the headers of proxies.',
      run: forged(({ ipn, post }) =>
        LOCAL_ADDRESSES.map((address) => ({
          ...post(ipn.badlySigned()),
          headers: ['X-Forwarded-For', 'X-Real-IP', 'X-Client-IP', 'CF-Connecting-IP'].map(
            (name) => [name, address] as const,
          ),
        })),
      ),
    },
  }),
  ...ofSender({ class: 'J', mistake: 'fields-not-required' })({
    'signature-array': {
      about: 'An IPN whose signature is a list with one entry.',
      run: forged(({ ipn }) => ipn.badlySigned().renamed('signature', asList)),
    },
    'signature-nested': {
      about: 'An IPN whose signature is a group of fields.',
      run: forged(({ ipn }) => ipn.set('signature', '1').renamed('signature', (name) => `${name}[value]`)),
    },
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
    'signature-json-true': {
      about: 'An IPN as JSON with the signature true, which may pass a loose comparison.',
      run: jsonSigned(true),
    },
    'signature-json-zero': {
      about: 'An IPN as JSON with the signature 0, which may pass a loose comparison.',
      run: jsonSigned(0),
    },
    'signature-json-null': {
      about: 'An IPN as JSON with the signature null, which may pass a loose comparison.',
      run: jsonSigned(null),
    },
    'signature-magic-hash': {
      about: 'An IPN with the signature 0e123, which a loose comparison reads as zero.',
      run: forged(({ ipn }) => ipn.set('signature', '0e123')),
      mistake: 'signature-not-checked',
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
    ...secondIdentifier('last', 'after its own', (own, victim) => own.and(victim)),
    ...secondIdentifier('first', 'before its own', (own, victim) => own.after(victim)),
    ...secondIdentifier('array', 'as identifier[]', (own, [, id]) => own.and(['identifier[]', id])),
    ...secondIdentifier('nested', 'as data[identifier]', (own, [, id]) => own.and(['data[identifier]', id])),
    ...secondIdentifier('query', 'in the query string', (own, victim, { post }) =>
      inQuery(post(own), victim),
    ),
    ...secondIdentifier(
      'body',
      'in the body and its own in the query string',
      (own, [name, id], { post }) => inQuery(post(own.set('identifier', id)), [name, own.get('identifier')]),
      'signature-not-checked',
    ),
    'data-as-text': {
      about: 'An incorrectly signed IPN whose data is a JSON string.',
      run: forged(({ shop, payment, ipn }) => {
        const data = JSON.stringify(shop.jsonOf(payment)['data']);
        return ipn.badlySigned().withoutGroups().and(['data', data]);
      }),
    },
  }),
];
