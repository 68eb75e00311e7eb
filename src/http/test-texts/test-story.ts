import { MAX_ENTRY } from '../../contract/checkout.ts';
import { OBEYED_BY_TERMINALS } from '../../contract/curl.ts';
import {
  type DeliveryOrder,
  OUTCOMES,
  PAYMENT_OUTCOMES,
  type PaymentOutcome,
} from '../../contract/vocabulary.ts';
import type { Attempt, Payment } from '../../domain/state.ts';
import { type OptionSpec, START_OPTIONS } from '../../options/table.ts';
import type { AppParts } from '../environment.ts';

interface Entry {
  field: 'email' | 'code';
  /** Null for the correct code, which changes in live mode. */
  value: string | null;
  passes: boolean;
}

/** Options that affect a test. */
const OPTIONS = [
  ...['delivery', 'ipnSchedule', 'ipnRetries', 'ipnFormat', 'amountFormat', 'ipnOn', 'forwardIpn'],
  ...['allowIpnHost', 'loose', 'sandboxEmail', 'sandboxCode', 'auto'],
  ...['currency', 'currencies', 'charges', 'wallets', 'outcomes'],
];

/** Maximum number of attempts per IPN that a test repeats. */
const ATTEMPTS = 10;

/** A payment as a test repeats it: the request, the actions and the results. */
export type TestStory = ReturnType<typeof testStoryOf>;

export function testStoryOf(payment: Payment, parts: AppParts) {
  const { dialect, runtime, ipns } = parts;
  const { settings } = runtime;
  const fields = requestOf(payment, dialect.merchant.initiateFields);
  const call = dialect.merchant.initiate(payment.mode, fields);
  const outcome = OUTCOMES.find((one) => PAYMENT_OUTCOMES[one].status === payment.status) ?? null;
  const deliveries = ipns.of(payment.id).filter(({ once }) => !once);
  const order: DeliveryOrder | undefined = deliveries.length > 1 ? 'ipn-twice' : undefined;
  return {
    /** The options of the emulator that matter here and differ from their defaults. */
    options: optionsOf(runtime.options),
    /** The merchant's request, with the names of the library. */
    fields: { ...fields, mode: payment.mode },
    /** The same request as form fields, without the public key. */
    form: call.form ?? {},
    initiatePath: call.path,
    payment,
    /** Null while it is pending. */
    outcome,
    /** Undefined for the default of the emulator. */
    order,
    /** The URL of the redirect; undefined if unknown. */
    redirectUrl: redirectOf(payment, outcome, order ?? settings.delivery),
    /** The customer's entries, if the customer settled the payment. */
    entries: payment.settledBy === 'customer' ? entriesOf(payment) : [],
    ipns: deliveries.map(({ id, state }) => ({
      state,
      attempts: attemptsOf(ipns.attemptsOf(id), settings.ipn.schedule),
    })),
  };
}

function requestOf(payment: Payment, names: readonly string[]): Record<string, string> {
  const values = Object.entries(payment).filter(([name, value]) => names.includes(name) && value !== null);
  return Object.fromEntries(values.map(([name, value]) => [name, String(value)]));
}

function optionsOf(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const specs: Readonly<Record<string, OptionSpec>> = START_OPTIONS;
  const isSet = (name: string) => {
    const value = JSON.stringify(options[name] ?? null);
    return value !== 'null' && value !== '[]' && value !== JSON.stringify(specs[name]?.default);
  };
  return Object.fromEntries(OPTIONS.filter(isSet).map((name) => [name, options[name]]));
}

function redirectOf(
  payment: Payment,
  outcome: PaymentOutcome | null,
  order: DeliveryOrder,
): string | null | undefined {
  if (outcome === null) return undefined;
  const { redirect } = PAYMENT_OUTCOMES[outcome];
  const redirected = payment.history.find(({ event }) => event === 'redirected')?.value;
  const url = redirected || (redirect === null || order === 'ipn-only' ? null : payment[redirect]);
  // An imported state may contain any text.
  return url !== null && !URL.canParse(url) ? undefined : url;
}

/** The customer's entries, in order. A truncated value cannot be entered again. */
function entriesOf({ history }: Payment): Entry[] {
  return history.flatMap(({ event, value }): Entry[] => {
    const entered = value ?? '';
    if (event === 'email_entered') return [{ field: 'email', value: entered, passes: true }];
    if (event === 'settled') return [{ field: 'code', value: null, passes: true }];
    if (event !== 'email_refused' && event !== 'code_refused') return [];
    if (!entered || entered.length >= MAX_ENTRY) return [];
    return [{ field: event === 'email_refused' ? 'email' : 'code', value: entered, passes: false }];
  });
}

interface TestedAttempt {
  /** Null without a response. */
  status: number | null;
  /** The cause: the first attempt, a scheduled retry, or a resend by hand. */
  by: 'first' | 'retry' | 'resend';
}

function attemptsOf(attempts: readonly Attempt[], schedule: readonly number[]): TestedAttempt[] {
  return attempts.slice(0, ATTEMPTS).map((attempt, index) => {
    const { responseStatus: status, startedAt } = attempt;
    const before = attempts[index - 1];
    if (!before) return { status, by: 'first' };
    const wait = schedule[index - 1];
    const waited = Date.parse(startedAt) - Date.parse(before.startedAt);
    const isDue = before.failure !== null && wait !== undefined && waited >= wait * EARLIEST;
    return { status, by: isDue ? 'retry' : 'resend' };
  });
}

/** Jitter sends a retry up to 10 % earlier than scheduled. */
const EARLIEST = 0.85;

/*
 * Values of a payment may contain any text. In the source of a test they must not become code, and control characters
 * must be visible.
 */

/** A string as JavaScript source, also safe inside a `<script>`. */
export function javaScriptText(text: string): string {
  const written = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replaceAll("'", "\\'")
    .replaceAll('<', text.search(/<[!/]/) < 0 ? '<' : '\\u003c')
    .replace(OBEYED_BY_TERMINALS, (character) => `\\u${hex(character)}`);
  return `'${written}'`;
}

export function javaScriptValue(value: unknown): string {
  if (typeof value === 'string') return javaScriptText(value);
  if (Array.isArray(value)) return `[${value.map(javaScriptValue).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const entries = Object.entries(value).map(([name, inner]) => `${keyOf(name)}: ${javaScriptValue(inner)}`);
  return `{ ${entries.join(', ')} }`;
}

function keyOf(name: string): string {
  return /^[A-Za-z]\w*$/.test(name) ? name : `[${javaScriptText(name)}]`;
}

/** A string as PHP source: in single quotes, or in double quotes if it needs escapes. */
export function phpText(text: string): string {
  if (text.search(/[\n\r\t]/) < 0 && text.search(OBEYED_BY_TERMINALS) < 0) {
    return `'${text.replace(/[\\']/g, '\\$&')}'`;
  }
  const written = text
    .replace(/[\\"$]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t')
    .replace(OBEYED_BY_TERMINALS, (character) => `\\u{${hex(character)}}`);
  return `"${written}"`;
}

const hex = (character: string) => character.charCodeAt(0).toString(16).padStart(4, '0');
