import { PLACEHOLDERS, type Placeholder } from '../contract/audit.ts';
import type { AuditOptions } from '../contract/audit-options.ts';
import { GatewayError } from '../contract/error.ts';
import type { Payment } from '../contract/payment.ts';
import { plainText } from '../contract/plain-text.ts';
import { namesOf } from '../contract/vocabulary.ts';
import type { Egress } from '../delivery/egress.ts';
import { readText } from '../delivery/sender.ts';
import { matches } from '../system/match-pattern.ts';
import { ask } from './ask.ts';
import {
  askedIn,
  type CommandRun,
  filledAddress,
  type OrderValues,
  ofTheUser,
  readCommand,
  runCommand,
  usage,
} from './command.ts';
import type { AuditGateway } from './gateway.ts';

/** Looks at something in the shop: what a command prints, what an address answers, what a function returns. */
export type Probe = (values: OrderValues) => Promise<string>;

/** What the shop looks like with respect to one order. */
export interface OrderSnapshot {
  /** Whether the order counts as paid; null where no probe tells. */
  paid: boolean | null;
  /** What the probe said of the order. */
  text: string;
  /** What the further probes said, by name. */
  effects: ReadonlyMap<string, string>;
  /** What it costs, as it was initiated. */
  order: Pick<Payment, 'amount' | 'currency'>;
  /** When it began: a probe may take longer than the shop. */
  at: number;
}

const LIMIT_MS = 10_000;

/** Whether a probe asks about one order; another one sees what happens to all of them. */
export function isAboutOneOrder(probe: string): boolean {
  return askedIn(probe).length > 0;
}

/** What is known of an order that no order command placed. */
export const WITHOUT_ORDER = namesOf(PLACEHOLDERS).filter((name) => name !== 'order');

/** @param what what to call it in an error. @throws GatewayError `usage` */
export function commandProbe(
  what: string,
  line: string,
  known: readonly Placeholder[],
  running: CommandRun,
): Probe {
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
      `the probe ${address} told nothing`,
    );
    if (status < 300 || (status >= 400 && status < 500)) return text;
    throw new GatewayError('check_failed', `the probe ${address} answered ${status}`);
  };
}

/** Whether a probe that may be an address or a command is an address. */
export function isAddress(given: string): boolean {
  return /^https?:\/\//i.test(given);
}

/**
 * The probes that the options name.
 *
 * @param gateway whose variables their commands see, and whose guard decides over their addresses
 * @throws GatewayError `usage`, `invalid_fields`
 */
export function probesOf(options: AuditOptions, { env, egress }: Pick<AuditGateway, 'env' | 'egress'>) {
  const { probeCmd, probeUrl, probe, paidWhen = '', probes = {}, timeoutMs: limitMs, cancelled } = options;
  const known = (options.orderCmd ?? options.order) ? namesOf(PLACEHOLDERS) : WITHOUT_ORDER;
  const running = { environment: env, limitMs, cancelled };
  const functionProbe =
    (look: (identifier: string) => unknown): Probe =>
    async ({ identifier = '' }) =>
      textOf(await ofTheUser('the probe', () => look(identifier)));
  const orderProbe = (): Probe | undefined => {
    if (probe) return functionProbe(probe);
    // An address is never read as a command, whatever is in it.
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
    isPaid: readCondition(paidWhen),
    effects: new Map(Object.entries(probes).map(([name, one]) => [name, effect(name, one)])),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Characters, for a pattern to be compiled in no time: nothing can interrupt that. */
const MAX_PATTERN = 1_000;

/**
 * Reads a condition: `.path.to.value=text` on JSON, else a regular expression, with or without slashes around it.
 *
 * @throws GatewayError `usage`
 */
export function readCondition(condition: string): (text: string) => boolean {
  const [, path, value] = /^(\.[^=]+)=(.*)$/s.exec(condition) ?? [];
  if (path !== undefined && value !== undefined) {
    return (text) => plainText(valueAt(text, path)) === value;
  }
  const [, source = condition, flags = ''] = /^\/(.*)\/([a-z]*)$/s.exec(condition) ?? [];
  if (source.length > MAX_PATTERN) {
    throw usage(
      `--paid-when takes a regular expression of at most ${MAX_PATTERN} characters (got ${source.length})`,
    );
  }
  if (flags.includes('v')) {
    throw usage('--paid-when takes no regular expression with the flag v: take u instead');
  }
  try {
    const pattern = new RegExp(source, flags.replace(/[gy]/g, ''));
    return (text) => matches(pattern, text);
  } catch (error) {
    const { message } = error as Error;
    throw usage(`--paid-when is neither .path=value nor a regular expression: ${message}`);
  }
}

/** The value at a path such as `.order.total` of a JSON text; undefined where there is none. */
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

/** Of a probe's answer that is made to be slow; what is further on, deeper or behind a longer path is not measured. */
export const MAX_MEASURES = 1_000;
const MAX_DEPTH = 20;
const MAX_PATH = 200;

/** The numbers in what a probe said, by where they stand: those of JSON with the lengths of its lists, else of the text. */
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
