import { DEFAULT_PORT } from '../contract/address.ts';
import type { JsonSchema } from '../contract/field.ts';
import { type Choices, PROFILE_NAMES, PROFILES } from '../contract/profiles.ts';
import { SETTLE_FIELDS } from '../contract/request-fields.ts';
import { DURATION_PATTERN } from '../contract/time.ts';
import {
  AMOUNT_FORMATS,
  DELIVERY_ORDERS,
  IPN_FORMATS,
  OUTCOMES,
  SENT_ON_REQUEST,
} from '../contract/vocabulary.ts';

/** The type of an option's value, by kind. The kind also decides how text is parsed. */
interface Values {
  text: string;
  /** A key or token, sent in a header. */
  secret: string;
  integer: number;
  boolean: boolean;
  choice: string;
  list: readonly string[];
  /** An address that paths are appended to. */
  baseUrl: string;
  /** In milliseconds. Text such as `2s` until it is parsed. */
  duration: number;
  /** The server checks it against its schema. */
  structure: unknown;
}

export type OptionKind = keyof Values;

/** JSON schema patterns for text values, by kind. */
export const PATTERNS: Partial<Record<OptionKind, string>> = {
  secret: '^[!-~]+$',
  baseUrl: '^[hH][tT][tT][pP][sS]?://[^/?#@][^?#@]*$',
};

/** An address of all IPNs, or a host and its target. */
const FORWARD_PATTERN = '^([hH][tT][tT][pP][sS]?://[^/]|[^=]+=[^=]+$)';

/** One option of `start`: a configuration key and, unless it is `fileOnly`, a flag and an environment variable. */
export interface OptionSpec {
  kind: OptionKind;
  /** The value's name in the help, after the flag. */
  placeholder?: string;
  choices?: readonly string[];
  /** The maximum of a number; the maximum length of a secret. */
  max?: number;
  default?: string | number | boolean | readonly string[];
  /** Only a key of the configuration file and an option of the library. */
  fileOnly?: true;
  /** Applies to the `gateway-sim start` process, not to the emulator: the library and `exec` do not have it. */
  commandOnly?: true;
  description: string;
  /** Additions to the JSON schema of its kind. */
  json?: JsonSchema;
}

type More = Partial<Omit<OptionSpec, 'kind' | 'description'>>;

/** Returns a function that declares options of a kind. */
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
const inFile = <const Kind extends OptionKind, const Rest extends More = Record<never, never>>(
  kind: Kind,
  description: string,
  more?: Rest,
) => ({ kind, fileOnly: true, description, ...(more as Rest) }) as const;

/**
 * Every option of `start` by its camelCase name. This table defines the keys of gateway-sim.config.json, the flags and
 * their help and the environment variables, except those marked `fileOnly`, and the library options, except those
 * marked `commandOnly`.
 */
export const START_OPTIONS = {
  port: integer('number', 'port to listen on; 0 for any free one', { max: 65535, default: DEFAULT_PORT }),
  host: text(
    'address',
    'address to listen on (127.0.0.1 also listens on ::1); others than loopback require the control token on /_sim',
    { default: '127.0.0.1' },
  ),
  dataDir: text('folder', 'folder for the state', { default: '.gateway-sim' }),
  inMemory: flag('keep the state in memory and write nothing to disk'),
  fsync: flag('flush each change to disk before responding, to survive a power loss'),
  fixtures: text(
    'file',
    'initial state of a new folder, --in-memory and resets (default: two wallets in every currency)',
  ),
  publicUrl: kind('baseUrl')('url', 'address where browsers reach the emulator, used in checkout URLs'),
  tls: flag('serve HTTPS with a generated certificate'),
  tlsCert: text('file', 'serve HTTPS with this certificate (PEM), followed by its issuers'),
  tlsKey: text('file', 'private key (PEM) for --tls-cert'),
  proxy: flag('also act as an HTTP proxy, only for the hosts in --host-alias'),
  hostAlias: list(
    'host',
    'host that clients use for the gateway, such as pay.example.com or pay.example.com/base; repeatable',
  ),
  profile: {
    kind: 'choice',
    placeholder: 'name',
    choices: PROFILE_NAMES,
    default: 'document',
    description: `behaviour to emulate: ${PROFILE_NAMES.map((name) => `${name} (${PROFILES[name].about})`).join(', ')}`,
  },
  loose: flag('accept common deviations: missing site_logo, overlong values, lowercase currency'),
  errorStatus: {
    kind: 'choice',
    choices: ['ok', 'http'],
    default: 'ok',
    description: 'HTTP status of rejected initiates: 200 (ok), as deployments send, or 422/401 (http)',
  },
  panel: { kind: 'boolean', default: true, description: 'show the simulator panel in the checkout' },
  sandboxEmail: text('e-mail', 'e-mail of the sandbox', { default: 'test_mode@mail.com' }),
  sandboxCode: text('code', 'verification code of the sandbox', { default: '222666' }),
  publicKey: secret('key', 'public key of the default merchant', { max: 50 }),
  secretKey: secret('key', 'secret key of the default merchant', { max: 200 }),
  currency: list('code', 'add a currency, such as NPR or NPR:Rs; repeatable', {
    json: { items: { type: 'string', pattern: '^[A-Z0-9]{2,4}(:.{0,8})?$' }, examples: [['NPR:Rs']] },
  }),
  delivery: {
    kind: 'choice',
    placeholder: 'order',
    choices: DELIVERY_ORDERS,
    default: 'ipn-then-redirect',
    description: `${SETTLE_FIELDS.delivery.description}: ${DELIVERY_ORDERS.join(', ')}`,
  },
  auto: {
    kind: 'choice',
    placeholder: 'outcome',
    choices: OUTCOMES,
    description: `settle every payment: ${OUTCOMES.join(', ')}`,
  },
  autoDelay: duration('duration', 'delay of the automatic settlement', { default: '500ms' }),
  seed: text('text', 'make ids, codes, card numbers and jitter repeatable, but not keys'),
  paymentExpires: duration('time', 'maximum age of a pending payment (default: never)'),
  ipnSchedule: list(
    'waits',
    'delays before the second, third, … attempt of an IPN; all are used, unless you set a number of retries',
    {
      default: ['1s', '5s', '30s', '2m', '10m'],
      json: { items: { type: 'string', pattern: DURATION_PATTERN } },
    },
  ),
  ipnRetries: integer(
    'number',
    'retries per IPN, none by default, because known servers send each IPN once; beyond the schedule, its last delay repeats',
    { max: 100, default: 0 },
  ),
  ipnTimeout: inFile('duration', 'time limit for the response of a receiver', { default: '10s' }),
  ipnFormat: {
    kind: 'choice',
    choices: IPN_FORMATS,
    default: 'form',
    description: 'body of an IPN: a form, as deployments send, or JSON',
  },
  amountFormat: {
    kind: 'choice',
    placeholder: 'format',
    choices: AMOUNT_FORMATS,
    default: 'sent',
    description:
      'data.amount of an IPN: sent, as to initiate; stored, with eight decimals; fixed:N, with N decimals',
  },
  ipnOn: list('statuses', `also send an IPN for ${SENT_ON_REQUEST.join(', ')}`, {
    json: { items: { enum: SENT_ON_REQUEST } },
  }),
  forwardIpn: list(
    'target',
    'send all IPNs to this address, or IPNs and redirects for one host to a target, such as shop.example=127.0.0.1:8080; repeatable',
    {
      json: {
        // A single one may be a text.
        type: ['array', 'string'],
        pattern: FORWARD_PATTERN,
        items: { type: 'string', pattern: FORWARD_PATTERN },
        examples: [['http://localhost:3000/ipn'], ['shop.example=127.0.0.1:8080']],
      },
    },
  ),
  allowIpnHost: list('host', 'allow IPNs to this public host; repeatable'),
  db: text(
    'database',
    'show what each IPN changed in the database of the shop: sqlite:<file>, mysql://user@host/name or postgres://user@host/name',
  ),
  dbSkip: inFile('list', 'do not read these tables of the database'),
  ipnCa: inFile(
    'text',
    'file with certificates (PEM) to trust for IPN receivers, in addition to the default ones',
  ),
  ipnInsecure: flag('accept any certificate at loopback and private hosts'),
  allowHost: list('host', 'accept this Host header on /_sim; repeatable'),
  allowOrigin: list(
    'origin',
    'allow pages of this origin to initiate from the browser, such as https://shop.example, or null; repeatable (loopback and private ones always may)',
    {
      json: {
        items: { type: 'string', pattern: '^(null|[a-zA-Z][a-zA-Z0-9+.-]*://[^/?#@]+/?)$' },
        examples: [['https://shop.example']],
      },
    },
  ),
  controlToken: secret(
    'token',
    'token required on /_sim (default: none; generated if --host is not a loopback address)',
    { max: 200 },
  ),
  json: commandFlag('print one JSON document per line on stdout, starting with the ready event'),
  quiet: commandFlag('print only the ready line and errors'),
  detach: commandFlag('run in the background, and return when it is ready'),
  charges: inFile('structure', 'charges, such as {"payment": {"percent": "2", "fixed": "0"}}'),
  currencies: inFile('structure', 'additional currencies as [{"code", "name", "symbol", "decimals"}]'),
  faults: inFile(
    'structure',
    'fault rules to start with, such as [{"route": "initiate", "status": 503, "times": 2}]',
  ),
  outcomes: inFile(
    'structure',
    'payments to settle automatically, such as [{"identifier": "fail-*", "outcome": "fail"}]',
  ),
  wallets: inFile('structure', 'additional wallets as [{"email", "holder", "currency", "balance"}]'),
} as const satisfies Record<string, OptionSpec>;

type Specs = typeof START_OPTIONS;
export type OptionName = keyof Specs;

/** Whether an option has no flag and no variable. */
export const isFileOnly = (name: OptionName): boolean => 'fileOnly' in START_OPTIONS[name];

type ValueOf<Spec extends OptionSpec> = Spec extends { choices: readonly (infer Choice)[] }
  ? Choice
  : Values[Spec['kind']];

type NamesOf<Part> = { [Name in OptionName]: Specs[Name] extends Part ? Name : never }[OptionName];

/** The options of an emulator as values. Omitted options use their defaults. */
export type StartOptions = {
  -readonly [Name in Exclude<OptionName, NamesOf<{ commandOnly: true }>>]?:
    | ValueOf<Specs[Name]>
    | (Specs[Name] extends { kind: 'duration' } | { json: { type: unknown } } ? string : never)
    | undefined;
};

/** The options of every emulator: all except those of the command itself. */
export const EMULATOR_OPTIONS: readonly string[] = Object.entries<OptionSpec>(START_OPTIONS)
  .filter(([, { commandOnly }]) => !commandOnly)
  .map(([name]) => name);

/** Every option with its value. Lists without a default are empty; other options without a default may be undefined. */
export type ResolvedOptions = {
  [Name in OptionName]:
    | ValueOf<Specs[Name]>
    | (Name extends NamesOf<{ default: unknown } | { kind: 'list' }> ? never : undefined);
} & {
  /** Of the profile, unless `--loose` overrides them. */
  choices: Choices;
};
