import { isAddress } from '../contract/address.ts';
import { GatewayError, usage } from '../contract/error.ts';
import { PLACEHOLDERS, type Placeholder } from '../contract/placeholders.ts';
import type { Mask } from '../contract/secrets.ts';
import { plainText } from '../contract/text.ts';
import { namesOf } from '../contract/vocabulary.ts';
import { A_TIME } from '../database/changes.ts';
import type { Egress } from '../delivery/egress.ts';
import { ask } from '../delivery/exchange.ts';
import { MAX_RESPONSE_BYTES, readText } from '../delivery/sender.ts';
import { matches } from '../system/match-pattern.ts';
import { realNow } from '../system/real-time.ts';
import {
  type CommandRun,
  callUserFunction,
  filledAddress,
  type OrderValues,
  placeholdersIn,
  readCommand,
  runCommand,
} from './command.ts';
import type { ProbeOptions } from './probe-options.ts';

/** Reads a value from the shop: the output of a command, the response of a URL or the result of a function. */
type Probe = (values: OrderValues) => Promise<{
  text: string;
  /** The HTTP status of a URL; otherwise null. */
  status: number | null;
}>;

/** A path in JSON and the value that it must have, as in `.status=paid`. */
const AT_PATH = /^(\.[^=]+)=(.*)$/s;

/** The state of one order in the shop. */
export interface OrderSnapshot {
  /** Whether the order is paid; null without a probe. */
  paid: boolean | null;
  /** The output of the order's probe. */
  text: string;
  /** The HTTP status of the order's probe; null unless it is a URL. */
  status: number | null;
  /** The outputs of the other probes, by name. */
  effects: ReadonlyMap<string, string>;
  /** When the probe started, since it may be slower than the shop. */
  at: number;
}

const LIMIT_MS = 10_000;

/** Whether a probe refers to one order, and not to the whole shop. */
export function isAboutOneOrder(probe: string): boolean {
  return placeholdersIn(probe).length > 0;
}

/** The known values of an order that no order command placed. */
const WITHOUT_ORDER = namesOf(PLACEHOLDERS).filter((name) => name !== 'order');

/** Values that several orders may have in common. */
const SHARED: readonly Placeholder[] = ['identifier', 'amount'];

/** What commands and addresses of probes depend on. */
interface Surroundings {
  /** Environment variables for the user's commands. */
  env: Readonly<Record<string, string>>;
  egress: Egress;
  mask: Mask;
}

/**
 * Creates the probes that the options specify.
 *
 * @throws GatewayError `usage`
 */
export function probesOf(options: ProbeOptions, { env: environment, egress, mask }: Surroundings) {
  const { probeCmd, probeUrl, probe, paidWhen = '', probes = {}, timeoutMs: limitMs, cancelled } = options;
  const known = (options.orderCmd ?? options.order) ? namesOf(PLACEHOLDERS) : WITHOUT_ORDER;
  const byUrl = (url: string) => urlProbe(url, egress, { limitMs, cancelled });
  const byCommand = (what: string, line: string): Probe => {
    const command = readCommand(what, line, known);
    return async (values) => ({
      text: await runCommand(command, values, { environment, mask, limitMs, cancelled }),
      status: null,
    });
  };
  const byFunction = (look: (identifier: string) => unknown): Probe => {
    return async ({ identifier = '' }) => ({
      text: textOf(await callUserFunction('the probe', () => look(identifier))),
      status: null,
    });
  };
  /** A pattern does not search a longer text to its end. */
  const limited =
    (one: Probe): Probe =>
    async (values) => {
      const seen = await one(values);
      if (seen.text.length <= MAX_RESPONSE_BYTES) return seen;
      const most = `${MAX_RESPONSE_BYTES / 1_024} KiB`;
      throw new GatewayError('check_failed', `the output of a probe is larger than ${most}`);
    };
  const orderProbe = (): Probe | undefined => {
    if (probe) return byFunction(probe);
    // A shell never parses an address.
    if (probeUrl !== undefined) return byUrl(probeUrl);
    return probeCmd === undefined ? undefined : byCommand('the probe command', probeCmd);
  };
  const effects = new Map<string, Probe>();
  for (const [name, given] of Object.entries(probes)) {
    const byText = (text: string) => (isAddress(text) ? byUrl(text) : byCommand(`the probe "${name}"`, text));
    effects.set(name, limited(typeof given === 'string' ? byText(given) : byFunction(given)));
  }
  const one = orderProbe();
  return {
    probe: one && limited(one),
    effects,
    isPaid: readCondition(paidWhen),
    /** Whether the probe distinguishes orders with the same identifier. */
    distinguishes: placeholdersIn(probeUrl ?? probeCmd ?? '').some((name) => !SHARED.includes(name)),
  };
}

export function urlProbe(
  url: string,
  guard: Egress,
  { limitMs = LIMIT_MS, cancelled }: Pick<CommandRun, 'limitMs' | 'cancelled'> = {},
): Probe {
  return async (values) => {
    const address = filledAddress(url, values);
    const answer = await ask(
      { url: address, method: 'GET', guard, timeoutMs: limitMs, signal: cancelled },
      async (response) => ({ status: response.statusCode ?? 0, text: await readText(response) }),
      `the probe ${address} failed`,
    );
    const { status } = answer;
    if (status < 300 || (status >= 400 && status < 500)) return answer;
    throw new GatewayError('check_failed', `the probe ${address} answered ${status}`);
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Maximum characters of a pattern, since its compilation cannot be interrupted. */
const MAX_PATTERN = 1_000;

/**
 * Parses a condition: `.path.to.value=text` for JSON, otherwise a regular expression. It needs slashes only if it begins
 * like a path without its dot, as in `/status=paid/`.
 *
 * @throws GatewayError `usage`
 */
export function readCondition(condition: string): (text: string) => boolean {
  const [, path, value] = AT_PATH.exec(condition) ?? [];
  if (path !== undefined && value !== undefined) {
    return (text) => plainText(valueAt(text, path)) === value;
  }
  if (/^[\w$-]+(?:\.[\w$-]+)*=/.test(condition)) {
    throw usage(
      `--paid-when ${condition} is ambiguous: write .${condition} for JSON, or /${condition}/ for text`,
    );
  }
  const [, source = condition, flags = ''] = /^\/(.*)\/([a-z]*)$/s.exec(condition) ?? [];
  if (source.length > MAX_PATTERN) {
    throw usage(
      `--paid-when accepts a regular expression of at most ${MAX_PATTERN} characters (got ${source.length})`,
    );
  }
  if (flags.includes('v')) {
    throw usage('--paid-when does not accept the flag v: use u instead');
  }
  try {
    const pattern = new RegExp(source, flags.replace(/[gy]/g, ''));
    return (text) => matches(pattern, text);
  } catch (error) {
    const { message } = error as Error;
    throw usage(`--paid-when is neither .path=value nor a regular expression: ${message}`);
  }
}

/** The name and value that a condition compares, such as `status` and `paid`; undefined for a regular expression. */
export function comparedBy(condition: string): [name: string, value: string] | undefined {
  const [, path = '', value] = AT_PATH.exec(condition) ?? [];
  const name = path.split('.').at(-1);
  return name && value !== undefined ? [name, value] : undefined;
}

/** Whether the value that a condition compares differs between two outputs; false for a regular expression. */
export function differsAtPath(condition: string, before: string, after: string): boolean {
  const [, path] = AT_PATH.exec(condition) ?? [];
  return path !== undefined && plainText(valueAt(before, path)) !== plainText(valueAt(after, path));
}

/** Why a condition cannot be met by such an output, whatever the shop does; undefined if it can. */
export function conditionProblem(condition: string, text: string): string | undefined {
  const [, path] = AT_PATH.exec(condition) ?? [];
  if (path === undefined || valueAt(text, path) !== undefined) return undefined;
  const value = parsed(text);
  const what = isGroup(value)
    ? `has ${Object.keys(value).join(', ') || 'no fields'}`
    : 'is not a JSON object';
  return `the condition ${condition} needs ${path}, and the probe's output ${what}`;
}

/**
 * The places of a probe's output that differ, such as `.status` or `.log[]`. An entry of a list has the place of all its
 * entries. Text that is not JSON is one place.
 */
export function changedPlaces(before: string, after: string): string[] {
  if (before === after) return [];
  const [one, other] = [parsed(before), parsed(after)];
  if (!isGroup(one) || !isGroup(other)) return ['the output'];
  const places = new Set<string>();
  const walk = (path: string, was: unknown, is: unknown, depth: number): void => {
    if (JSON.stringify(was) === JSON.stringify(is)) return;
    const isTooDeep = depth > MAX_DEPTH || path.length > MAX_PATH;
    // A list may begin with its first entry.
    if (!isTooDeep && (Array.isArray(was) || Array.isArray(is))) places.add(`${path}[]`);
    else if (isTooDeep || !isGroup(was) || !isGroup(is)) places.add(path);
    else
      for (const name of new Set([...Object.keys(was), ...Object.keys(is)]))
        walk(`${path}.${name}`, was[name], is[name], depth + 1);
  };
  walk('', one, other, 0);
  return [...places];
}

/** A JSON text as a value; undefined for other text. */
export function parsed(text: string, revive?: (name: string, value: unknown) => unknown): unknown {
  try {
    return JSON.parse(text, revive);
  } catch {
    return undefined;
  }
}

/** The value at a path such as `.order.total` in a JSON text; undefined if there is none. */
export function valueAt(text: string, path: string): unknown {
  let value = parsed(text);
  for (const name of path.split('.').filter(Boolean)) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/**
 * Removes the parts of a probe’s output that change without a cause.
 *
 * @param one an output for an unchanged order
 * @param other another output for the same order
 * @returns a function that replaces the JSON values that differ; in other text, all numbers, or everything if more than
 *   numbers differ
 */
export function stablePart(one: string, other: string): (text: string) => string {
  try {
    const moving = new Set(differences(JSON.parse(one), JSON.parse(other)));
    return (text) => {
      try {
        return JSON.stringify(without(moving, JSON.parse(text)));
      } catch {
        return text;
      }
    };
  } catch {
    const withoutNumbers = (text: string) => text.replace(/\d+/g, '0');
    return withoutNumbers(one) === withoutNumbers(other) ? withoutNumbers : () => '';
  }
}

export const isGroup = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** The paths of the values that differ. */
function differences(one: unknown, other: unknown, path = ''): string[] {
  if (one === other) return [];
  if (!isGroup(one) || !isGroup(other)) return [path];
  const names = Object.keys(one);
  if (names.join() !== Object.keys(other).join()) return [path];
  return names.flatMap((name) => differences(one[name], other[name], `${path}.${name}`));
}

function without(paths: ReadonlySet<string>, value: unknown, path = ''): unknown {
  if (paths.has(path)) return null;
  if (Array.isArray(value)) return value.map((inner, index) => without(paths, inner, `${path}.${index}`));
  if (!isGroup(value)) return value;
  const kept = Object.entries(value).map(([name, inner]) => [name, without(paths, inner, `${path}.${name}`)]);
  return Object.fromEntries(kept);
}

/** Limits for probe output that is crafted to be slow to compare. The rest is not measured. */
const MAX_MEASURES = 1_000;
const MAX_DEPTH = 20;
const MAX_PATH = 200;

/** The numbers in a probe's output, by their place: JSON numbers and list lengths, otherwise the numbers in the text. */
export function measures(text: string): Map<string, number> {
  const found = new Map<string, number>();
  const walk = (path: string, value: unknown, depth: number): void => {
    if (found.size >= MAX_MEASURES || depth > MAX_DEPTH || path.length > MAX_PATH) return;
    if (typeof value === 'number') found.set(path, value);
    if (Array.isArray(value)) found.set(`${path}.length`, value.length);
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value)) walk(`${path}.${name}`, inner, depth + 1);
  };
  const value = parsed(text);
  if (value === undefined) {
    found.set('lines', text.trim() === '' ? 0 : text.trim().split('\n').length);
    for (const [number] of text.matchAll(/-?\d+(?:\.\d+)?/g)) {
      if (found.size > MAX_MEASURES) break;
      found.set(`number ${found.size - 1}`, Number(number));
    }
    return found;
  }
  walk('', value, 0);
  return found;
}

/** How much the numbers in the probes' output changed, by probe and place. Unchanged numbers are omitted. */
export function numericChanges(before: OrderSnapshot, after: OrderSnapshot): Map<string, number> {
  const texts = (look: OrderSnapshot): [string, string][] => [['', look.text], ...look.effects];
  const old = new Map(texts(before));
  const changes = new Map<string, number>();
  for (const [name, text] of texts(after)) {
    const was = measures(old.get(name) ?? '');
    // If the output exceeded the limit, a number that seems new is not necessarily new.
    const isAll = was.size < MAX_MEASURES;
    for (const [place, value] of measures(text)) {
      const change = value - (was.get(place) ?? (isAll ? 0 : value));
      if (change !== 0) changes.set(`${name}${place}`, change);
    }
  }
  return changes;
}

const DAY_MS = 86_400_000;

/** Whether a text is a time today, in any time zone. A later time may be the end of a customer's access. */
const isRecentTime = (text: string) =>
  /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(text) && Math.abs(Date.parse(text) - realNow()) < DAY_MS;

/** The difference between two outputs of a probe: the changed JSON members, otherwise both texts. */
export function differenceOf(before: string, after: string, mask: Mask): string {
  const short = (text = 'nothing') => mask(text, { most: 60 });
  const members = (text: string) =>
    new Map(Object.entries(parsed(text) ?? {}).map(([name, value]) => [name, JSON.stringify(value)]));
  const [old, current] = [members(before), members(after)];
  const changed = [...current].filter(([name, value]) => old.get(name) !== value);
  const shown = changed.map(([name, value]) => `${name} from ${short(old.get(name))} to ${short(value)}`);
  if (shown.length) return shown.join(', ');
  const [was, is] = [before, after].map((text) => text.split('\n'));
  const line = is?.findIndex((text, index) => text !== was?.[index]) ?? -1;
  return `${short(was?.[line])} before, ${short(is?.[line])} after`;
}

/** Whether texts differ only in numbers, recent times, list lengths and added lines. */
export function isCountOrLog(before: string, after: string): boolean {
  const plain = (_: string, value: unknown) => {
    if (typeof value === 'number' || Array.isArray(value)) return null;
    return typeof value === 'string' && isRecentTime(value) ? 'a time' : value;
  };
  const [one, other] = [parsed(before, plain), parsed(after, plain)];
  if (one !== undefined && other !== undefined) return JSON.stringify(one) === JSON.stringify(other);
  return after.startsWith(before) || after.replace(/\d+/g, '0') === before.replace(/\d+/g, '0');
}

/**
 * `orders.status=paid` as a condition on the JSON that is made of the rows. Without a value, a text would be sought in
 * the names of the columns, too.
 *
 * @throws GatewayError `usage`
 */
export function asRowCondition(text: string): string {
  if (/^\/.*\/[a-z]*$/s.test(text)) return text;
  if (/^\.?[\w$-]+(?:\.[\w$-]+)+=/.test(text)) return asPath(text);
  throw usage(
    `with a database, --paid-when is a table, a column and a value, such as orders.status=paid, or orders.paid_at="${A_TIME}" for any time (got "${text}")`,
  );
}

/** `orders.status` as a path in the JSON that is made of the rows. */
export const asPath = (text: string) => (/^[\w$-]+(?:\.[\w$-]+)*(?:=|$)/.test(text) ? `.${text}` : text);
