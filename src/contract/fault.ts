import * as z from 'zod/mini';
import { didYouMean } from './error.ts';
import {
  FAULT_ALTERNATIVES,
  FAULT_CONDITIONS,
  FAULT_EFFECT_NAMES,
  FAULT_EFFECTS,
  type FaultEffect,
  type FaultMember,
  MAX_RULES,
} from './fault-effects.ts';
import {
  count,
  type Field,
  field,
  type JsonSchema,
  query,
  record,
  request,
  text,
  wholeList,
  wholeListFields,
  yesOrNo,
} from './field.ts';
import { textThat, textWithout } from './input.ts';
import { DURATION_PATTERN, isDuration, parseDuration } from './time.ts';
import { FAULT_ROUTES } from './vocabulary.ts';

/*
 * Fault rules make the emulator misbehave on purpose. All of this is our choice. Rules act only if the user sets them,
 * and are never stored.
 */

const number = (isValid: (value: number) => boolean, error: string, json: JsonSchema) => ({
  schema: z.number({ error }).check(z.refine(isValid, { error })),
  json,
});

/** The schema and the JSON schema of each kind of member. */
const KINDS = {
  on: () => ({ schema: z.literal(true), json: {} }),
  integer: ({ min = 0, max = 0 }) =>
    number(
      (value) => Number.isInteger(value) && value >= min && value <= max,
      `must be a whole number from ${min} to ${max}`,
      { type: 'integer', minimum: min, maximum: max },
    ),
  fraction: ({ min = 0, max = 1 }) =>
    number((value) => value > min && value <= max, `must be greater than ${min} and at most ${max}`, {
      exclusiveMinimum: min,
      maximum: max,
      default: max,
    }),
  duration: ({ longest = '' }) => ({
    schema: textThat(
      (value) => isDuration(value, parseDuration(longest) ?? 0),
      `must be a duration such as 500ms, 2s or 1m, at most ${longest}`,
    ),
    json: { pattern: DURATION_PATTERN },
  }),
  latency: ({ longest = '' }) => ({
    schema: textWithout((value) => latencyProblem(value, longest)),
    json: {},
  }),
  pattern: () => ({
    schema: textThat((value) => value !== '' && value.length <= 200, 'must be text of 1 to 200 characters'),
    json: { minLength: 1, maxLength: 200 },
  }),
} as const satisfies Record<FaultMember['kind'], (member: FaultMember) => Omit<Field, 'description'>>;

function latencyProblem(value: string, longest: string): string | undefined {
  const parts = value.split('..');
  if (parts.length > 2 || !parts.every((part) => isDuration(part, parseDuration(longest) ?? 0))) {
    return `must be a duration such as 2s, or a range such as 100ms..2s, at most ${longest}`;
  }
  const [low, high] = parts.map(parseDuration);
  return high !== undefined && Number(low) > high
    ? 'must be a range from the shorter to the longer duration'
    : undefined;
}

type Members = typeof FAULT_CONDITIONS & typeof FAULT_EFFECTS;
type SchemaOf<Member extends FaultMember> = ReturnType<(typeof KINDS)[Member['kind']]>['schema'];
type MemberFields = { [Name in keyof Members]: Field<z.ZodMiniOptional<SchemaOf<Members[Name]>>> };

function memberFields(): MemberFields {
  const members: [string, FaultMember][] = Object.entries({ ...FAULT_CONDITIONS, ...FAULT_EFFECTS });
  return Object.fromEntries(
    members.map(([name, member]) => {
      const { schema, json } = KINDS[member.kind](member);
      const sentence = member.description.replace(/^ipn\b|^\w/, (beginning) => beginning.toUpperCase());
      return [name, field(z.optional(schema as z.ZodMiniType), `${sentence}.`, json)];
    }),
  ) as unknown as MemberFields;
}

const ruleFields = {
  route: field(text, '`initiate`, `checkout`, `cards`, `ipn`, or a path in which * matches anything.'),
  ...memberFields(),
};

/** A fault rule in a request, in the configuration file and in the list. */
export const FaultRule = request(
  'FaultRule',
  'A fault, and where it happens.',
  ruleFields,
  { route: 'initiate', status: 503, times: 2 },
  ({ value: rule, issues }) => {
    for (const [name, message] of contradictions(rule)) {
      issues.push({ code: 'custom', input: rule, path: [name], message });
    }
  },
);
export type FaultRule = z.output<typeof FaultRule>;

/** A rule as it acted on an attempt: without `delay` and `reorder` if they postponed the attempt, so perhaps without a fault. */
export const AppliedFault = record('AppliedFault', 'What a fault rule did to an attempt.', ruleFields);

/** All rules: the body of a PUT, and the value in the configuration file. */
export const FaultRules = request(
  'FaultRules',
  'All rules.',
  {
    faults: field(
      z.array(FaultRule).check(z.maxLength(MAX_RULES, `at most ${MAX_RULES} rules are allowed`)),
      'The rules, in order of precedence.',
    ),
  },
  { faults: [{ route: 'ipn', delay: '30s' }] },
);

function* contradictions(rule: FaultRule): Generator<[string, string]> {
  const problem = routeProblem(rule.route);
  if (problem) yield ['route', problem];
  const isGiven = (name: FaultEffect) => rule[name] !== undefined;
  if (!problem && !FAULT_EFFECT_NAMES.some(isGiven)) {
    yield ['route', `has no fault: specify one of ${FAULT_EFFECT_NAMES.join(', ')}`];
  }
  for (const name of FAULT_EFFECT_NAMES) {
    const { ipnOnly }: FaultMember = FAULT_EFFECTS[name];
    if (ipnOnly && isGiven(name) && rule.route !== 'ipn') yield [name, 'works only with the route ipn'];
  }
  if (rule.malformed && rule.route === 'checkout')
    yield ['malformed', 'does not work with pages: use truncate'];
  for (const group of FAULT_ALTERNATIVES) {
    const [first, second] = group.filter(isGiven);
    if (first && second) yield [second, `cannot be combined with ${first}`];
  }
}

function routeProblem(route: string): string | undefined {
  if (route.startsWith('/')) {
    return /^\/_sim(\/|$)/.test(route)
      ? 'must not be below /_sim, so that you can always clear the fault'
      : undefined;
  }
  if (FAULT_ROUTES.some((name) => name === route)) return undefined;
  const help = didYouMean(route, FAULT_ROUTES);
  return `must be ${FAULT_ROUTES.join(', ')} or a path such as /api/cards/* (got "${route.slice(0, 60)}")${help}`;
}

export const Fault = record('Fault', 'A fault rule and the number of times it has acted.', {
  ...ruleFields,
  used: field(count, 'Number of times it has acted.'),
  spent: field(yesOrNo, 'Whether it has reached `times`.'),
  summary: field(text, 'The rule in words.'),
});
export type Fault = z.output<typeof Fault>;

const ORDER = 'in order of precedence';
export const FaultList = wholeList('FaultList', Fault, 'fault rules', ORDER);

export const ClearQuery = query('ClearFilter', 'Selects the rules to clear.', {
  route: field(z.optional(textWithout(routeProblem)), 'Only rules with exactly this route; default: all.'),
});

export const ClearedFaults = record(
  'ClearedFaults',
  'The number of cleared rules, and the remaining rules.',
  {
    ...wholeListFields(Fault, 'remaining rules', ORDER),
    cleared: field(count, 'Number of cleared rules.'),
  },
);
