import * as z from 'zod/mini';
import { CARD_MOVEMENTS } from '../contract/card-status.ts';
import { GatewayError, usage } from '../contract/error.ts';
import { parseInput, textThat } from '../contract/input.ts';
import { CHOICE_NAMES, type Choices, PROFILE_NAMES } from '../contract/profiles.ts';
import { namesOf, OUTCOMES, SOURCES } from '../contract/vocabulary.ts';

/*
 * One observation of the service interface: a request, and what to expect of its response, of the IPN that follows, or
 * of a client. fixtures/fidelity/manifest.jsonl has one per line.
 */

/** What to do with the payment or card of a line. All but `pay` need the control API of an emulator. */
const AFTERWARDS = ['pay', ...OUTCOMES, ...CARD_MOVEMENTS] as const;

/** Areas of the interface, in display order. */
export const AREAS = {
  initiate: 'Initiate a payment',
  fields: 'Fields of initiate',
  amount: 'Amounts',
  currency: 'Currencies',
  refusal: 'Refusals of initiate',
  checkout: 'Hosted checkout',
  ipn: 'IPN',
  signature: 'Signature',
  cards: 'Virtual cards',
  card: 'Card records',
  routes: 'Routes and methods',
  clients: 'What clients rely on',
} as const;

/** The options of `start` that lines depend on. */
const OPTIONS = ['currency', 'amountFormat', 'errorStatus'] as const;

const json = z.json();
const text = z.string();
const texts = z.array(text);
const pattern = text.check(z.refine((value) => isPattern(value), { error: 'must be a regular expression' }));
const patterns = z.record(text, pattern);

function isPattern(value: string): boolean {
  try {
    return Boolean(new RegExp(value, 'u'));
  } catch {
    return false;
  }
}

/** Expectations for an IPN. Fields have their names in a form, such as `data[amount]`. */
const ExpectedIpn = z.strictObject({
  /** Number of attempts that arrive. */
  count: z.optional(z.int().check(z.minimum(0), z.maximum(3))),
  /** The status that the receiver answers; default: 200. */
  answered: z.optional(z.int()),
  fields: z.optional(z.record(text, text)),
  matches: z.optional(patterns),
  lacks: z.optional(texts),
  /** The names of all fields in their order. */
  order: z.optional(texts),
  headers: z.optional(patterns),
  method: z.optional(text),
  query: z.optional(text),
  early: z.optional(z.literal(true)),
  /** Whether the IPN must have the documented signature. */
  signed: z.optional(z.literal(true)),
});

/** Expectations for a response. Paths are dotted, such as `data.0.id`; a number is an index of a list. */
const Expected = z.strictObject({
  status: z.optional(z.int()),
  /** These fields with exactly these values. */
  json: z.optional(z.record(text, json)),
  /** Exactly these top-level names, in any order. */
  keys: z.optional(texts),
  has: z.optional(texts),
  lacks: z.optional(texts),
  types: z.optional(z.record(text, z.enum(['string', 'number', 'integer', 'boolean', 'array', 'object']))),
  /** `body` is the whole body. */
  matches: z.optional(patterns),
  /** Whether the request must be accepted: the status is 2xx, and the body is JSON without an error. */
  taken: z.optional(z.literal(true)),
  /** The request is rejected, in any shape, and the messages name all of these fields. */
  names: z.optional(texts),
  /**
   * The request is rejected, in any shape. If the messages do not name these fields, the reason is unknown and the line
   * is unseen.
   */
  about: z.optional(texts),
  /** Fields that consist of digits with a valid Luhn check digit. */
  luhn: z.optional(texts),
  headers: z.optional(patterns),
  /** The address of the redirect after the payment is settled on the checkout. */
  redirect: z.optional(text),
  ipn: z.optional(ExpectedIpn),
  /** What a client does, for lines that cannot be tested at a target. */
  client: z.optional(text),
});
export type Expected = z.output<typeof Expected>;

export const ManifestLine = z.strictObject({
  id: textThat((value) => /^[a-z0-9]+(-[a-z0-9]+)*$/.test(value), 'must be kebab-case'),
  area: z.enum(namesOf(AREAS)),
  /** The observation as a sentence. */
  says: text.check(z.minLength(1)),
  request: z.strictObject({
    method: textThat((value) => /^[A-Z]+$/.test(value), 'must be a method in upper case'),
    path: text.check(z.minLength(1)),
    headers: z.record(
      textThat((value) => /^[\w!#$%&'*+.^`|~-]+$/.test(value), 'must be a header name'),
      textThat((value) => !/[^\t\x20-\x7e\x80-\xff]/.test(value), 'must be a header value'),
    ),
    body: z.nullable(text),
  }),
  /** Number of times to send it; the first response counts. */
  times: z.optional(z.int().check(z.minimum(2), z.maximum(20))),
  /** The line to run before this one, after its own preceding lines. */
  after: z.optional(text),
  /** What to do after the response. */
  outcome: z.optional(z.enum(AFTERWARDS)),
  /** Applies to emulators only, so it is not tested elsewhere. */
  emulator: z.optional(z.literal(true)),
  expect: Expected,
  /** The messages and fields of the OpenAPI document whose descriptions it proves, such as `InitiateRequest.amount`. */
  proves: z.optional(texts),
  source: z.strictObject({ kind: z.enum(SOURCES), where: text.check(z.minLength(1)) }),
  /** The profiles it applies to; empty if it depends only on a choice. */
  profiles: z.array(z.enum(PROFILE_NAMES)),
  /** The choices and options it depends on. `!NPR` means a list without NPR. */
  choice: z.optional(z.partialRecord(z.enum([...CHOICE_NAMES, ...OPTIONS]), text)),
});
export type ManifestLine = z.output<typeof ManifestLine>;

/**
 * Parses a manifest: one JSON object per line. Blank lines are ignored.
 *
 * @param file the file's name in errors
 * @throws GatewayError `usage`, with the line and what was expected
 */
export function readManifest(text: string, file: string): ManifestLine[] {
  const lines: ManifestLine[] = [];
  const known = new Set<string>();
  for (const [index, written] of text.split('\n').entries()) {
    if (written.trim() === '') continue;
    const place = `${file}, line ${index + 1}`;
    const line = readLine(written, place);
    if (known.has(line.id)) throw usage(`${place}: duplicate id ${line.id}`);
    if (line.after !== undefined && !known.has(line.after)) {
      throw usage(`${place}: after must be the id of an earlier line (got "${line.after}")`);
    }
    known.add(line.id);
    lines.push(line);
  }
  if (lines.length) return lines;
  throw usage(`${file} is empty: expected one observation per line, as JSON`);
}

function readLine(written: string, place: string): ManifestLine {
  let value: unknown;
  try {
    value = JSON.parse(written);
  } catch (error) {
    throw usage(`${place}: expected a JSON object (${(error as Error).message})`);
  }
  try {
    const line = parseInput(ManifestLine, value, undefined, 'usage');
    if (!line.profiles.length && !line.choice) throw usage('expected a profile in profiles, or a choice');
    if (line.expect.client !== undefined || /^(\/|\{checkout\})/.test(line.request.path)) return line;
    throw usage('request.path must begin with / or {checkout}');
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw usage(`${place}: ${error.message}`, {
      problems: error.problems.map((problem) => `${place}: ${problem}`),
    });
  }
}

/** The settings that decide which lines apply: a profile, its choices and the options of `start`. */
export interface InForce {
  readonly profile: ManifestLine['profiles'][number];
  readonly choices: Choices;
  readonly [option: string]: unknown;
}

/** Whether a line applies to these settings. */
export function appliesWith({ profiles, choice }: ManifestLine, inForce: InForce): boolean {
  if (choice === undefined) return profiles.includes(inForce.profile);
  const values: Readonly<Record<string, unknown>> = { ...inForce, ...inForce.choices };
  return Object.entries(choice).every(([name, wanted]) => isChosen(values[name], wanted));
}

/** Whether a list contains a value, or lacks it after an exclamation mark; `NPR:Rs` is NPR. */
function isChosen(value: unknown, wanted: string): boolean {
  if (!Array.isArray(value)) return value === wanted;
  const codes = value.map((one) => String(one).split(':', 1)[0]);
  return wanted.startsWith('!') ? !codes.includes(wanted.slice(1)) : codes.some((code) => code === wanted);
}
