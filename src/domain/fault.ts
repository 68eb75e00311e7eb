import * as z from 'zod/mini';
import { parseDuration } from '../contract/duration.ts';
import { nearestName } from '../contract/error.ts';
import { FAULT_ROUTES } from '../contract/vocabulary.ts';

/*
 * Fault rules make the emulator misbehave on purpose. All of this is chosen; none of it acts unless somebody sets it,
 * and none of it is stored.
 */

/** Nobody waits longer for an answer, and an IPN that comes later is lost to whoever tests with it. */
const LONGEST_LATENCY = '10m';
const LONGEST_DELAY = '24h';

const isDuration = (text: string, longest: string) =>
  (parseDuration(text) ?? Number.POSITIVE_INFINITY) <= (parseDuration(longest) ?? 0);

function duration(longest: string) {
  const expected = `must be a duration such as 500ms, 2s or 1m, at most ${longest}`;
  return z.string().check(z.refine((text) => isDuration(text, longest), { error: expected }));
}

function whole(min: number, max: number) {
  const expected = `must be a whole number from ${min} to ${max}`;
  return z
    .number()
    .check(z.refine((value) => Number.isInteger(value) && value >= min && value <= max, { error: expected }));
}

function latencyProblem(text: string): string | undefined {
  const parts = text.split('..');
  if (parts.length > 2 || !parts.every((part) => isDuration(part, LONGEST_LATENCY))) {
    return `must be a duration such as 2s, or a range such as 100ms..2s, at most ${LONGEST_LATENCY}`;
  }
  const [low, high] = parts.map(parseDuration);
  return high !== undefined && Number(low) > high
    ? 'must be a range from the shorter to the longer'
    : undefined;
}

const pattern = z
  .string()
  .check(
    z.refine((text) => text !== '' && text.length <= 200, { error: 'must be text of 1 to 200 characters' }),
  );
const latency = z.string().check((field) => {
  const message = latencyProblem(field.value);
  if (message) field.issues.push({ code: 'custom', input: field.value, message });
});
/** Effects are switched on; leaving them out switches them off. */
const on = z.optional(z.literal(true));

const FIELDS = {
  /** initiate, checkout, cards, ipn, or a path in which * stands for anything. */
  route: z.string(),
  /** Acts on so large a part of what matches; default: on all of it. */
  probability: z.optional(
    z
      .number()
      .check(z.refine((value) => value > 0 && value <= 1, { error: 'must be greater than 0 and at most 1' })),
  ),
  /** Acts so many times and is spent then; default: as long as it is set. */
  times: z.optional(whole(1, 1_000_000)),
  /** Acts only where this matches the merchant's identifier (or the card's id); * stands for anything. */
  identifier: z.optional(pattern),
  /** Answers with this status. For an IPN: as if the receiver had answered so; nothing is sent. */
  status: z.optional(whole(200, 599)),
  /** Retry-After of that answer; the status is 429 then unless another is given. */
  retryAfter: z.optional(duration(LONGEST_DELAY)),
  /** Waits first, in real time. */
  latency: z.optional(latency),
  /** Closes the connection without an answer. For an IPN: it is lost, and the attempt has failed. */
  drop: on,
  /** Half of the body, and then the end of the connection. For an IPN: only half of its body is sent. */
  truncate: on,
  /** A JSON body loses its first colon, a form its first equals sign. */
  malformed: on,
  /** IPN: goes out a second time after it was received. */
  duplicate: on,
  /** IPN: goes out so much later, on the emulator's clock. */
  delay: z.optional(duration(LONGEST_DELAY)),
  /** IPN: the next IPN overtakes it. */
  reorder: on,
  /** IPN: the first digit of the signature is another one. */
  corruptSignature: on,
};

const CONDITIONS = ['route', 'probability', 'times', 'identifier'];
const EFFECTS = Object.keys(FIELDS).filter((name) => !CONDITIONS.includes(name));
const IPN_ONLY = ['duplicate', 'delay', 'reorder', 'corruptSignature'] as const;
/** Each of these decides alone what comes back, or when it goes out. */
const ALTERNATIVES = [
  ['status', 'drop', 'truncate', 'malformed'],
  ['retryAfter', 'drop', 'truncate', 'malformed'],
  ['delay', 'reorder'],
] as const;

/** One fault rule, as it stands in a request, in the configuration file and in the list. */
export const FaultRule = z.strictObject(FIELDS).check((rule) => {
  for (const [field, message] of contradictions(rule.value)) {
    rule.issues.push({ code: 'custom', input: rule.value, path: [field], message });
  }
});
export type FaultRule = z.infer<typeof FaultRule>;

/** Each request is held against every rule (chosen). */
export const MAX_RULES = 100;

/** Every rule at once: the body of a PUT, and what the configuration file says. */
export const FaultRules = z.strictObject({
  faults: z.array(FaultRule).check(z.maxLength(MAX_RULES, `there may be at most ${MAX_RULES} rules`)),
});

function* contradictions(rule: FaultRule): Generator<[string, string]> {
  const problem = routeProblem(rule.route);
  if (problem) yield ['route', problem];
  const given = new Map<string, unknown>(Object.entries(rule).filter(([, value]) => value !== undefined));
  if (!problem && !EFFECTS.some((name) => given.has(name))) {
    yield ['route', `needs something that goes wrong there: one of ${EFFECTS.join(', ')}`];
  }
  for (const name of IPN_ONLY) {
    if (given.has(name) && rule.route !== 'ipn') yield [name, 'is for the route ipn only'];
  }
  if (rule.malformed && rule.route === 'checkout') yield ['malformed', 'is not for pages: use truncate'];
  for (const group of ALTERNATIVES) {
    const [first, second] = group.filter((name) => given.has(name));
    if (first && second) yield [second, `cannot go together with ${first}`];
  }
}

/** Where a rule acts, as it is written in one. */
export const FaultRoute = z.string().check((field) => {
  const message = routeProblem(field.value);
  if (message) field.issues.push({ code: 'custom', input: field.value, message });
});

function routeProblem(route: string): string | undefined {
  if (route.startsWith('/')) {
    return /^\/_sim(\/|$)/.test(route)
      ? 'must not be below /_sim: the way to end a fault stays open'
      : undefined;
  }
  if (FAULT_ROUTES.some((name) => name === route)) return undefined;
  const meant = nearestName(route, FAULT_ROUTES);
  const hint = meant ? `: did you mean ${meant}?` : '';
  return `must be ${FAULT_ROUTES.join(', ')} or a path such as /api/cards/* (got "${route.slice(0, 60)}")${hint}`;
}

/** A rule and how often it has acted. */
export interface ActiveFault {
  rule: FaultRule;
  used: number;
}

/** Whether a rule has acted as often as it was to. */
export function isSpent({ rule, used }: ActiveFault): boolean {
  return rule.times !== undefined && used >= rule.times;
}

/** The status that a rule answers with; undefined when it answers with none of its own. */
export function statusOfFault({ status, retryAfter }: FaultRule): number | undefined {
  return status ?? (retryAfter === undefined ? undefined : 429);
}

/** The Retry-After of a rule in whole seconds, as the header has it; undefined when it sends none. */
export function retryAfterSeconds({ retryAfter }: FaultRule): string | undefined {
  return retryAfter === undefined ? undefined : String(Math.ceil((parseDuration(retryAfter) ?? 0) / 1_000));
}

/** A body as a rule spoils it. */
export function corrupted(body: string, rule: FaultRule, isJson: boolean): string {
  if (rule.truncate) return body.slice(0, Math.floor(body.length / 2));
  return rule.malformed ? body.replace(isJson ? ':' : '=', '') : body;
}

/** The body of an IPN with another first digit in its signature; JSON and form alike. */
export function corruptSignature(body: string): string {
  return body.replace(
    /((?:^|&)signature=|"signature":")(.)/,
    (_, name: string, digit: string) => `${name}${digit === '0' ? '1' : '0'}`,
  );
}

/** What a rule does, such as `status 503, latency 100ms..2s`. */
export function effectsInWords(rule: FaultRule): string {
  const words: (string | false | undefined)[] = [
    rule.latency && `latency ${rule.latency}`,
    statusOfFault(rule) !== undefined && `status ${statusOfFault(rule)}`,
    rule.retryAfter && `Retry-After ${rule.retryAfter}`,
    rule.drop && 'connection dropped',
    rule.truncate && 'body truncated',
    rule.malformed && 'body malformed',
    rule.duplicate && 'sent twice',
    rule.delay && `delayed by ${rule.delay}`,
    rule.reorder && 'overtaken by the next',
    rule.corruptSignature && 'signature corrupted',
  ];
  return words.filter(Boolean).join(', ');
}

/** A rule as one line for people, such as `initiate: status 503, 2 times (1 left)`. */
export function faultInWords(fault: ActiveFault): string {
  const { rule } = fault;
  const conditions = [
    rule.identifier !== undefined && `identifier ${rule.identifier}`,
    rule.probability !== undefined && `probability ${rule.probability}`,
    timesInWords(fault),
  ];
  return [`${rule.route}: ${effectsInWords(rule)}`, ...conditions].filter(Boolean).join(', ');
}

function timesInWords(fault: ActiveFault): string | undefined {
  const { times } = fault.rule;
  if (times === undefined) return undefined;
  const left = isSpent(fault) ? 'spent' : `${times - fault.used} left`;
  return `${times === 1 ? 'once' : `${times} times`} (${left})`;
}
