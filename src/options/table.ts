import { DURATION_PATTERN } from '../contract/duration.ts';
import type { JsonSchema } from '../contract/field.ts';
import { SENT_ON_REQUEST } from '../contract/outcomes.ts';
import { type Choices, PROFILE_NAMES, PROFILES, type ProfileName } from '../contract/profiles.ts';
import { DELIVERY_ORDERS, IPN_FORMATS } from '../contract/vocabulary.ts';

/** What a value of an option is, by its kind, which also says how its text is read. */
interface Values {
  text: string;
  /** A key or token: it goes into a header. */
  secret: string;
  integer: number;
  boolean: boolean;
  choice: string;
  list: readonly string[];
  url: string;
  /** An address that paths are put behind. */
  baseUrl: string;
  /** Milliseconds; in words until it is read. */
  duration: number;
  /** How much is kept: a number of records, or their age as a duration in words. */
  retention: number | string;
  /** Only the configuration file holds these; the server checks them against their schema. */
  structure: unknown;
}

export type OptionKind = keyof Values;

/** What the text of a kind looks like, as a pattern of JSON schema. */
export const PATTERNS: Partial<Record<OptionKind, string>> = {
  secret: '^[!-~]+$',
  url: '^[hH][tT][tT][pP][sS]?://[^/]',
  baseUrl: '^[hH][tT][tT][pP][sS]?://[^/?#@][^?#@]*$',
};

/** Of records. */
export const MAX_KEPT = 999_999_999;

/** One option of `start`: a flag, an environment variable and a key of the configuration file in one. */
export interface OptionSpec {
  kind: OptionKind;
  /** What stands behind the flag in the help. */
  placeholder?: string;
  choices?: readonly string[];
  /** Of a number; of a secret: how many characters it may have. */
  max?: number;
  default?: string | number | boolean | readonly string[];
  /** About the process of `gateway-sim start`, not about the emulator in it: neither the library nor `exec` has it. */
  commandOnly?: true;
  description: string;
  /** What the JSON schema of the configuration knows of its values beside the kind. */
  json?: JsonSchema;
}

type More = Partial<Omit<OptionSpec, 'kind' | 'description'>>;

/** Declares options of a kind: what stands behind the flag in the help, what it is for, what else is known. */
function kind<const Kind extends OptionKind>(kind: Kind) {
  return <const Rest extends More = Record<never, never>>(
    placeholder: string,
    description: string,
    more?: Rest,
  ) => ({ kind, placeholder, description, ...(more as Rest) });
}

const text = kind('text');
const secret = kind('secret');
const integer = kind('integer');
const list = kind('list');
const duration = kind('duration');
const flag = (description: string) => ({ kind: 'boolean', default: false, description }) as const;
const commandFlag = (description: string) => ({ ...flag(description), commandOnly: true }) as const;
const structure = (description: string) => ({ kind: 'structure', description }) as const;

/**
 * Every option of `start` by its camelCase name. From this table come the flags and their help, the
 * environment variables, the keys of gateway-sim.config.json and, but for those of the command only, the options of
 * the library.
 */
export const START_OPTIONS = {
  port: integer('number', 'port to listen on; 0 takes a free one', { max: 65535, default: 4477 }),
  host: text(
    'address',
    'address to listen on (127.0.0.1 also listens on ::1); any but a loopback one guards /_sim with the control token',
    { default: '127.0.0.1' },
  ),
  dataDir: text('folder', 'folder that keeps the state', { default: '.gateway-sim' }),
  inMemory: flag('keep nothing on disk'),
  fsync: flag('wait for the disk itself before answering: survives power loss'),
  fixtures: text(
    'file',
    'state that a new data folder, one in memory and a reset start with (default: two wallets in every currency)',
  ),
  keep: kind('retention')(
    'number|duration',
    'keep this many settled payments, or those settled in this time, such as 1000 or 24h; older ones go with their IPNs, but none of which something is still due (default: keep all)',
  ),
  publicUrl: kind('baseUrl')('url', 'address under which browsers reach the emulator, for checkout URLs'),
  tls: flag(
    'speak https, by a pair of mkcert in the data or working folder, else by a local authority made for this emulator',
  ),
  tlsCert: text('file', 'certificate (PEM) to speak https with, those of its issuers behind it'),
  tlsKey: text('file', 'private key (PEM) of --tls-cert'),
  proxy: flag('also answer as an HTTP proxy, for the hosts of --host-alias only'),
  hostAlias: list(
    'host',
    'host name that clients have for the gateway, such as pay.example.com, or with their path as pay.example.com/base; repeatable',
  ),
  profile: text(
    'name|file',
    `behave as ${PROFILE_NAMES.map((name) => `${name} (${PROFILES[name].about})`).join(', ')}, or as a file of conform --update-profile says`,
    { default: 'document', json: { examples: PROFILE_NAMES } },
  ),
  loose: flag(
    'accept what many clients send against the interface: no site_logo, over-long values, lower-case currency',
  ),
  errorStatus: {
    kind: 'choice',
    choices: ['ok', 'http'],
    default: 'ok',
    description: 'HTTP status of refused initiates: 200 as deployments do, or 422/401',
  },
  panel: { kind: 'boolean', default: true, description: 'show the simulator panel on the checkout' },
  sandboxEmail: text('e-mail', 'e-mail that passes the sandbox checkout', { default: 'test_mode@mail.com' }),
  sandboxCode: text('code', 'verification code that passes the sandbox checkout', { default: '222666' }),
  publicKey: secret('key', 'public key of the default merchant', { max: 50 }),
  secretKey: secret('key', 'secret key of the default merchant', { max: 200 }),
  currency: list('CODE[:symbol]', 'one more currency, such as NPR:Rs; repeatable', {
    json: { items: { type: 'string', pattern: '^[A-Z0-9]{2,4}(:.{0,8})?$' }, examples: [['NPR:Rs']] },
  }),
  delivery: {
    kind: 'choice',
    placeholder: 'order',
    choices: DELIVERY_ORDERS,
    default: 'ipn-then-redirect',
    description: `order of IPN and redirect: ${DELIVERY_ORDERS.join(', ')}`,
  },
  auto: {
    kind: 'choice',
    placeholder: 'outcome',
    choices: ['approve', 'cancel', 'fail'],
    description: 'settle every payment by itself: approve, cancel or fail',
  },
  autoDelay: duration('duration', 'time from initiate until a payment settles itself', { default: '500ms' }),
  seed: text('text', 'make ids, codes, card numbers and jitter repeat (never keys and tokens)'),
  paymentExpires: duration(
    'duration',
    'expire a payment that is still pending after this long (default: never)',
  ),
  ipnSchedule: list('durations', 'waits before the second, third, … attempt of an IPN', {
    default: ['1s', '5s', '30s', '2m', '10m'],
    json: { items: { type: 'string', pattern: DURATION_PATTERN } },
  }),
  ipnRetries: integer(
    'number',
    'retries of an IPN: the first so many of the schedule, whose last wait repeats (default: all of it)',
    { max: 100 },
  ),
  ipnTimeout: duration('duration', 'time that a receiver has for its answer', { default: '10s' }),
  ipnFormat: {
    kind: 'choice',
    choices: IPN_FORMATS,
    default: 'form',
    description: 'how an IPN is written: a form as deployments send it, or JSON',
  },
  amountFormat: text(
    'sent|stored|stored-live|fixed:N',
    'data.amount of an IPN: as sent to initiate, with eight decimals, with them in live mode only, or with N decimals',
    {
      default: 'sent',
      json: {
        pattern: '^(sent|stored|stored-live|fixed:[0-8])$',
        examples: ['sent', 'stored', 'stored-live', 'fixed:2'],
      },
    },
  ),
  ipnOn: list(SENT_ON_REQUEST.join(','), 'send an IPN for these too, not only on success', {
    json: { items: { enum: SENT_ON_REQUEST } },
  }),
  forwardIpn: kind('url')(
    'url',
    'deliver every IPN of a payment here instead of to its ipn_url, which goes into a header',
  ),
  map: list(
    'host=target',
    'reach this host of what a client sends (IPN, success, cancel and logo addresses) here, such as shop.example=127.0.0.1:8080; repeatable',
    {
      json: {
        items: { type: 'string', pattern: '^[^=]+=[^=]+$' },
        examples: [['shop.example=127.0.0.1:8080']],
      },
    },
  ),
  allowIpnHost: list('host', 'let IPNs out to this public host; repeatable'),
  ipnCa: text('file', 'certificates (PEM) that receivers of IPNs are trusted by, beside the usual ones'),
  ipnInsecure: flag('do not check the certificates of receivers at loopback and private addresses'),
  allowHost: list('host', 'accept this Host header on /_sim; repeatable'),
  allowOrigin: list(
    'origin',
    'let pages of this origin initiate from the browser, such as https://shop.example, or null; repeatable (those of this machine and of private networks may)',
    {
      json: {
        items: { type: 'string', pattern: '^(null|[a-zA-Z][a-zA-Z0-9+.-]*://[^/?#@]+/?)$' },
        examples: [['https://shop.example']],
      },
    },
  ),
  controlToken: secret(
    'token',
    'token that /_sim asks for (default: none, or a made-up one where --host is not loopback)',
    { max: 200 },
  ),
  open: commandFlag('open the dashboard in the browser'),
  json: commandFlag('one JSON document a line on stdout, the ready event first'),
  quiet: commandFlag('say nothing but the ready line and errors'),
  detach: commandFlag('run in the background; returns once it answers'),
  choices: structure('single choices against the profile, as {"siteLogo": "optional"}'),
  charges: structure('charges as {"payment": {"percent": "2", "fixed": "0"}}'),
  currencies: structure('more currencies as [{"code", "name", "symbol", "decimals"}]'),
  faults: structure('fault rules to start with, as [{"route": "initiate", "status": 503, "times": 2}]'),
  outcomes: structure('payments that settle themselves, as [{"identifier": "fail-*", "outcome": "fail"}]'),
  wallets: structure('more wallets as [{"email", "holder", "currency", "balance"}]'),
} as const satisfies Record<string, OptionSpec>;

type Specs = typeof START_OPTIONS;
export type OptionName = keyof Specs;

type ValueOf<Spec extends OptionSpec> = Spec extends { choices: readonly (infer Choice)[] }
  ? Choice
  : Values[Spec['kind']];

type NamesOf<Part> = { [Name in OptionName]: Specs[Name] extends Part ? Name : never }[OptionName];

/** The options of an emulator as values; what is absent takes its default. */
export type StartOptions = {
  -readonly [Name in Exclude<OptionName, NamesOf<{ commandOnly: true }>>]?:
    | ValueOf<Specs[Name]>
    | (Specs[Name]['kind'] extends 'duration' ? string : never)
    | undefined;
};

/** The options that an emulator has wherever it runs: all but those of the command only. */
export const EMULATOR_OPTIONS: readonly string[] = Object.entries<OptionSpec>(START_OPTIONS)
  .filter(([, { commandOnly }]) => !commandOnly)
  .map(([name]) => name);

/** Every option with its value; those without a default may be undefined, but for lists, which are empty then. */
export type ResolvedOptions = {
  [Name in Exclude<OptionName, keyof InForce>]:
    | ValueOf<Specs[Name]>
    | (Name extends NamesOf<{ default: unknown } | { kind: 'list' }> ? never : undefined);
} & InForce;

/** What a profile and the options above it come to. */
type InForce = {
  /** One of ours, also where a file changes it. */
  profile: ProfileName;
  choices: Choices;
};
