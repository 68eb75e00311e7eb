import { DURATION_PATTERN } from '../contract/duration.ts';
import type { JsonSchema } from '../contract/field.ts';
import { DELIVERY_ORDERS, IPN_FORMATS, SENT_ON_REQUEST } from '../contract/vocabulary.ts';

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

const FLAG = { kind: 'boolean', default: false } as const;
const NUMBER = { kind: 'integer', placeholder: 'number' } as const;
const DURATION = { kind: 'duration', placeholder: 'duration' } as const;
const KEY = { kind: 'secret', placeholder: 'key' } as const;
const HOSTS = { kind: 'list', placeholder: 'host' } as const;

/**
 * Every option of `start` by its camelCase name. From this table come the flags and their help, the
 * environment variables, the keys of gateway-sim.config.json and, but for those of the command only, the options of
 * the library.
 */
export const START_OPTIONS = {
  port: { ...NUMBER, max: 65535, default: 4477, description: 'port to listen on; 0 takes a free one' },
  host: {
    kind: 'text',
    placeholder: 'address',
    default: '127.0.0.1',
    description:
      'address to listen on (127.0.0.1 also listens on ::1); any but a loopback one guards /_sim with the control token',
  },
  dataDir: {
    kind: 'text',
    placeholder: 'folder',
    default: '.gateway-sim',
    description: 'folder that keeps the state',
  },
  inMemory: { ...FLAG, description: 'keep nothing on disk' },
  fsync: { ...FLAG, description: 'wait for the disk itself before answering: survives power loss' },
  fixtures: {
    kind: 'text',
    placeholder: 'file',
    description:
      'state that a new data folder, one in memory and a reset start with (default: two wallets in every currency)',
  },
  publicUrl: {
    kind: 'baseUrl',
    placeholder: 'url',
    description: 'address under which browsers reach the emulator, for checkout URLs',
  },
  loose: {
    ...FLAG,
    description:
      'accept what many clients send against the interface: no site_logo, over-long values, lower-case currency',
  },
  errorStatus: {
    kind: 'choice',
    choices: ['ok', 'http'],
    default: 'ok',
    description: 'HTTP status of refused initiates: 200 as deployments do, or 422/401',
  },
  panel: { kind: 'boolean', default: true, description: 'show the simulator panel on the checkout' },
  sandboxEmail: {
    kind: 'text',
    placeholder: 'e-mail',
    default: 'test_mode@mail.com',
    description: 'e-mail that passes the sandbox checkout',
  },
  sandboxCode: {
    kind: 'text',
    placeholder: 'code',
    default: '222666',
    description: 'verification code that passes the sandbox checkout',
  },
  publicKey: { ...KEY, max: 50, description: 'public key of the default merchant' },
  secretKey: { ...KEY, max: 200, description: 'secret key of the default merchant' },
  currency: {
    kind: 'list',
    placeholder: 'CODE[:symbol]',
    description: 'one more currency, such as NPR:Rs; repeatable',
    json: { items: { type: 'string', pattern: '^[A-Z0-9]{2,4}(:.{0,8})?$' }, examples: [['NPR:Rs']] },
  },
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
  autoDelay: {
    ...DURATION,
    default: '500ms',
    description: 'time from initiate until a payment settles itself',
  },
  seed: {
    kind: 'text',
    placeholder: 'text',
    description: 'make ids, codes, card numbers and jitter repeat (never keys and tokens)',
  },
  paymentExpires: {
    ...DURATION,
    description: 'expire a payment that is still pending after this long (default: never)',
  },
  ipnSchedule: {
    kind: 'list',
    placeholder: 'durations',
    default: ['1s', '5s', '30s', '2m', '10m'],
    description: 'waits before the second, third, … attempt of an IPN',
    json: { items: { type: 'string', pattern: DURATION_PATTERN } },
  },
  ipnRetries: {
    ...NUMBER,
    max: 100,
    description:
      'retries of an IPN: the first so many of the schedule, whose last wait repeats (default: all of it)',
  },
  ipnTimeout: { ...DURATION, default: '10s', description: 'time that a receiver has for its answer' },
  ipnFormat: {
    kind: 'choice',
    choices: IPN_FORMATS,
    default: 'form',
    description: 'how an IPN is written: a form as deployments send it, or JSON',
  },
  amountFormat: {
    kind: 'text',
    placeholder: 'sent|stored|fixed:N',
    default: 'sent',
    description: 'data.amount of an IPN: as sent to initiate, with eight decimals, or with N decimals',
    json: { pattern: '^(sent|stored|fixed:[0-8])$', examples: ['sent', 'stored', 'fixed:2'] },
  },
  ipnOn: {
    kind: 'list',
    placeholder: SENT_ON_REQUEST.join(','),
    description: 'send an IPN for these too, not only on success',
    json: { items: { enum: SENT_ON_REQUEST } },
  },
  forwardIpn: {
    kind: 'url',
    placeholder: 'url',
    description: 'deliver every IPN of a payment here instead of to its ipn_url, which goes into a header',
  },
  allowIpnHost: { ...HOSTS, description: 'let IPNs out to this public host; repeatable' },
  allowHost: { ...HOSTS, description: 'accept this Host header on /_sim; repeatable' },
  controlToken: {
    kind: 'secret',
    placeholder: 'token',
    max: 200,
    description: 'token that /_sim asks for (default: none, or a made-up one where --host is not loopback)',
  },
  open: { ...FLAG, commandOnly: true, description: 'open the dashboard in the browser' },
  json: {
    ...FLAG,
    commandOnly: true,
    description: 'one JSON document a line on stdout, the ready event first',
  },
  quiet: { ...FLAG, commandOnly: true, description: 'say nothing but the ready line and errors' },
  detach: { ...FLAG, commandOnly: true, description: 'run in the background; returns once it answers' },
  charges: { kind: 'structure', description: 'charges as {"payment": {"percent": "2", "fixed": "0"}}' },
  currencies: {
    kind: 'structure',
    description: 'more currencies as [{"code", "name", "symbol", "decimals"}]',
  },
  faults: {
    kind: 'structure',
    description: 'fault rules to start with, as [{"route": "initiate", "status": 503, "times": 2}]',
  },
  outcomes: {
    kind: 'structure',
    description: 'payments that settle themselves, as [{"identifier": "fail-*", "outcome": "fail"}]',
  },
  wallets: { kind: 'structure', description: 'more wallets as [{"email", "holder", "currency", "balance"}]' },
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
  [Name in OptionName]:
    | ValueOf<Specs[Name]>
    | (Name extends NamesOf<{ default: unknown } | { kind: 'list' }> ? never : undefined);
};
