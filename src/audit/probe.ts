import { PLACEHOLDERS, type Placeholder } from '../contract/audit.ts';
import type { AuditOptions } from '../contract/audit-options.ts';
import { GatewayError, usage } from '../contract/error.ts';
import type { Payment } from '../contract/payment.ts';
import { plainText } from '../contract/plain-text.ts';
import { namesOf } from '../contract/vocabulary.ts';
import type { Egress } from '../delivery/egress.ts';
import { readText } from '../delivery/sender.ts';
import { matches } from '../system/match-pattern.ts';
import { ask } from './ask.ts';
import {
  type CommandRun,
  callUserFunction,
  filledAddress,
  type OrderValues,
  placeholdersIn,
  readCommand,
  runCommand,
} from './command.ts';
import type { AuditGateway } from './gateway.ts';

/** Reads a value from the shop: the output of a command, the response of a URL or the result of a function. */
export type Probe = (values: OrderValues) => Promise<string>;

/** The state of one order in the shop. */
export interface OrderSnapshot {
  /** Whether the order is paid; null without a probe. */
  paid: boolean | null;
  /** The output of the order's probe. */
  text: string;
  /** The outputs of the other probes, by name. */
  effects: ReadonlyMap<string, string>;
  /** The initiated amount. */
  order: Pick<Payment, 'amount' | 'currency'>;
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

/** @param what the probe's name in errors. @throws GatewayError `usage` */
function commandProbe(what: string, line: string, known: readonly Placeholder[], running: CommandRun): Probe {
  const command = readCommand(what, line, known);
  return (values) => runCommand(command, values, running);
}

export function urlProbe(
  url: string,
  guard: Egress,
  { limitMs = LIMIT_MS, cancelled }: Pick<CommandRun, 'limitMs' | 'cancelled'> = {},
): Probe {
  return async (values) => {
    const address = filledAddress(url, values);
    const { status, text } = await ask(
      { url: address, method: 'GET', guard, timeoutMs: limitMs, signal: cancelled },
      async (answer) => ({ status: answer.statusCode ?? 0, text: await readText(answer) }),
      `the probe ${address} failed`,
    );
    if (status < 300 || (status >= 400 && status < 500)) return text;
    throw new GatewayError('check_failed', `the probe ${address} answered ${status}`);
  };
}

/** Whether a probe is an address, and not a command. */
export function isAddress(given: string): boolean {
  return /^https?:\/\//i.test(given);
}

/**
 * Creates the probes that the options specify.
 *
 * @param gateway provides the variables of their commands and the egress rules for their addresses
 * @throws GatewayError `usage`, `invalid_fields`
 */
export function probesOf(
  options: Partial<AuditOptions>,
  { env, egress }: Pick<AuditGateway, 'env' | 'egress'>,
) {
  const { probeCmd, probeUrl, probe, paidWhen = '', probes = {}, timeoutMs: limitMs, cancelled } = options;
  const known = (options.orderCmd ?? options.order) ? namesOf(PLACEHOLDERS) : WITHOUT_ORDER;
  const running = { environment: env, limitMs, cancelled };
  const functionProbe =
    (look: (identifier: string) => unknown): Probe =>
    async ({ identifier = '' }) =>
      textOf(await callUserFunction('the probe', () => look(identifier)));
  const orderProbe = (): Probe | undefined => {
    if (probe) return functionProbe(probe);
    // A shell never parses an address.
    if (probeUrl !== undefined) return urlProbe(probeUrl, egress, running);
    return probeCmd === undefined ? undefined : commandProbe('the probe command', probeCmd, known, running);
  };
  const effect = (name: string, given: string | ((identifier: string) => unknown)) => {
    if (typeof given !== 'string') return functionProbe(given);
    if (isAddress(given)) return urlProbe(given, egress, running);
    return commandProbe(`the probe "${name}"`, given, known, running);
  };
  return {
    probe: orderProbe(),
    distinguishes: placeholdersIn(probeUrl ?? probeCmd ?? '').some((name) => !SHARED.includes(name)),
    isPaid: readCondition(paidWhen),
    effects: new Map(Object.entries(probes).map(([name, one]) => [name, effect(name, one)])),
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
  const [, path, value] = /^(\.[^=]+)=(.*)$/s.exec(condition) ?? [];
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

/** The value at a path such as `.order.total` in a JSON text; undefined if there is none. */
export function valueAt(text: string, path: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
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

const isGroup = (value: unknown): value is Record<string, unknown> =>
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
export const MAX_MEASURES = 1_000;
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
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
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
