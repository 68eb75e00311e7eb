import type { Expected, ExpectedIpn } from '../contract/manifest.ts';
import { plainText } from '../contract/plain-text.ts';
import { isLuhnNumber } from '../domain/card.ts';
import { matches } from '../system/match-pattern.ts';
import type { IpnTools } from '../wire/dialect.ts';
import { at, parsed } from './json.ts';
import type { ReceivedIpn } from './listener.ts';
import type { Seen } from './session.ts';
import { header, Unseen } from './target.ts';

/** An expected value and the value received instead. */
export interface Mismatch {
  expected: string;
  got: string;
  /** Groups equal mismatches of different lines; default: the expected value. */
  cause?: string;
}

/** The result of a line, or why there is none. */
export type Verdict = Comparison | { why: string };

export interface Comparison {
  mismatches: readonly Mismatch[];
  /** The expectations that were met. */
  met?: readonly string[];
  status?: number;
  /** Whether the route does not exist. */
  isNoRoute?: boolean;
}

/** Maximum characters of a value in a mismatch: more than a report shows, so that masking sees whole values. */
const KEPT = 4_000;

const shown = (value: unknown): string => {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.slice(0, KEPT);
};

/** Collects met expectations and mismatches. */
class Findings {
  readonly mismatches: Mismatch[] = [];
  readonly met: string[] = [];

  check(isMet: boolean, expected: string, got: string, cause = expected): void {
    if (isMet) this.met.push(expected);
    else this.mismatches.push({ expected, got, cause });
  }

  /** @param written the expected value in the manifest, before its placeholders are replaced */
  equal(what: string, wanted: unknown, got: unknown, written = wanted): void {
    const holds = JSON.stringify(wanted) === JSON.stringify(got);
    const cause = `${what} ${shown(written)}${written === wanted ? `, got ${shown(got)}` : ''}`;
    this.check(holds, `${what} ${shown(wanted)}`, shown(got), cause);
  }

  match(what: string, pattern: string, got: unknown): void {
    const text = plainText(got);
    const holds = text !== undefined && matches(new RegExp(pattern, 'u'), text);
    this.check(holds, `${what} like /${pattern}/`, shown(got));
  }
}

/** Compares a response and its IPNs with the expectations of a line. */
export function compare(expected: Expected, seen: Seen, secretKey: string, tools: IpnTools): Comparison {
  const findings = new Findings();
  if (expected.status !== undefined) findings.equal('status', expected.status, seen.status);
  for (const [path, value] of Object.entries(expected.json ?? {})) {
    const wanted = typeof value === 'string' ? seen.fill(value) : value;
    findings.equal(path, wanted, at(seen.json, path), value);
  }
  for (const [path, pattern] of Object.entries(expected.matches ?? {})) {
    findings.match(path, pattern, path === 'body' ? seen.body : at(seen.json, path));
  }
  for (const [name, pattern] of Object.entries(expected.headers ?? {})) {
    findings.match(`header ${name}`, pattern, header(seen.headers, name));
  }
  const { redirect } = expected;
  if (redirect !== undefined) findings.equal('a redirect to', seen.fill(redirect), seen.redirect, redirect);
  checkShape(expected, seen, findings);
  if (expected.taken) {
    const { status, json } = seen;
    const holds = status < 300 && json !== undefined && at(json, 'error') === undefined;
    findings.check(holds, 'no refusal', `status ${status}: ${shown(json)}`);
  }
  const { names, about = names } = expected;
  if (about) checkRefusal(about, seen, findings, names !== undefined);
  if (expected.ipn) checkIpn(expected.ipn, seen, secretKey, tools, findings);
  const { mismatches, met } = findings;
  const { status, json } = seen;
  return { mismatches, met, status, isNoRoute: status === 404 || json === undefined };
}

function checkShape(
  { keys, has, lacks, types, lengths, luhn, text }: Expected,
  seen: Seen,
  findings: Findings,
): void {
  if (keys) {
    const got = typeof seen.json === 'object' && seen.json !== null ? Object.keys(seen.json) : undefined;
    findings.equal('the fields', keys.toSorted(), got?.toSorted());
  }
  for (const path of has ?? []) {
    findings.check(at(seen.json, path) !== undefined, `a field ${path}`, shown(seen.json));
  }
  for (const path of lacks ?? []) {
    const value = at(seen.json, path);
    findings.check(value === undefined, `no field ${path}`, `${path} ${shown(value)}`);
  }
  for (const [path, type] of Object.entries(types ?? {})) {
    const value = at(seen.json, path);
    const holds = typeOf(value) === type || (type === 'number' && typeOf(value) === 'integer');
    findings.check(holds, `${path} of the type ${type}`, shown(value));
  }
  for (const [path, length] of Object.entries(lengths ?? {})) {
    const value = at(seen.json, path);
    const holds = Array.isArray(value) && value.length === length;
    findings.check(holds, `${path} with ${length} entries`, shown(value));
  }
  for (const path of luhn ?? []) {
    const value = at(seen.json, path);
    const holds = isLuhnNumber(plainText(value) ?? '');
    findings.check(holds, `${path} with a valid Luhn check digit`, shown(value));
  }
  for (const part of text ?? []) {
    findings.check(seen.body.includes(seen.fill(part)), `${shown(part)} in the body`, shown(seen.body));
  }
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/**
 * Checks a refusal in any form: an error or error status, no sign of success, and messages that name the invalid field.
 *
 * @throws Unseen if the refusal may have another reason, unless it must name the field
 */
function checkRefusal(names: readonly string[], seen: Seen, findings: Findings, mustName: boolean): void {
  const { status, json } = seen;
  const error = at(json, 'error');
  const hasSuccess = at(json, 'success') !== undefined || at(json, 'url') !== undefined;
  const isError = [true, 'true', 'yes', 1, '1'].some((value) => value === error);
  const hasError = isError || (status >= 400 && json !== undefined);
  const cause = hasSuccess
    ? `a refusal that names ${names.join(', ')}, got success`
    : `a refusal, got error ${shown(error)}`;
  findings.check(hasError && !hasSuccess, 'a refusal', shown(json), cause);
  if (!hasError || hasSuccess) return;
  const messages = plain(JSON.stringify([at(json, 'message'), at(json, 'errors')]));
  const unnamed = names.filter((name) => !messages.includes(plain(name)));
  if (unnamed.length && !mustName) throw new Unseen('the request was refused without a reason');
  const general = 'a refusal that names the invalid field';
  for (const name of unnamed) findings.check(false, `a refusal that names ${name}`, shown(json), general);
}

/** Some deployments write `customer name` for `customer_name`. */
const plain = (text: string) => text.toLowerCase().replaceAll('_', ' ');

function checkIpn(
  expected: ExpectedIpn,
  { ipns, fill, early }: Seen,
  secretKey: string,
  tools: IpnTools,
  findings: Findings,
): void {
  const { count = 1 } = expected;
  const [ipn] = ipns;
  const got = countOf(ipns.length);
  findings.check(ipns.length === count, countOf(count), got, `${countOf(count)}, got ${got}`);
  if (!ipn) return;
  const isRepeated = ipns.every(({ body }) => body === ipn.body);
  findings.check(isRepeated, 'the same IPN again', 'a different body');
  if (expected.early) findings.check(early > 0, 'the IPN before the redirect', 'the IPN after the redirect');
  const fields = fieldsOf(ipn);
  for (const [name, value] of Object.entries(expected.fields ?? {})) {
    findings.equal(name, fill(value), fields.get(name), value);
  }
  for (const [name, pattern] of Object.entries(expected.matches ?? {})) {
    findings.match(name, pattern, name === 'body' ? ipn.body : fields.get(name));
  }
  for (const name of expected.lacks ?? []) {
    findings.check(!fields.has(name), `no field ${name}`, `${name} ${shown(fields.get(name))}`);
  }
  if (expected.order) findings.equal('fields', expected.order, [...fields.keys()]);
  for (const [name, pattern] of Object.entries(expected.headers ?? {})) {
    findings.match(`header ${name}`, pattern, ipn.headers[name]);
  }
  if (expected.method !== undefined) findings.equal('method', expected.method, ipn.method);
  const { query } = expected;
  if (query !== undefined) findings.equal('query', fill(query), ipn.query, query);
  if (!expected.signed) return;
  const { amount, identifier, signature } = tools.names;
  const own = tools.sign(fields.get(amount) ?? '', fields.get(identifier) ?? '', secretKey);
  const came = fields.get(signature);
  findings.check(came === own, `signature ${shown(own)}`, shown(came), 'the documented signature');
}

const countOf = (count: number) => `${count} IPN${count === 1 ? '' : 's'}`;

/** The fields of an IPN, named as in a form, whether it was sent as a form or as JSON. */
function fieldsOf({ headers, body }: ReceivedIpn): Map<string, string> {
  if (!(headers['content-type'] ?? '').includes('json')) return new Map(new URLSearchParams(body));
  const fields = new Map<string, string>();
  const add = (prefix: string, value: unknown) => {
    if (typeof value !== 'object' || value === null) return void fields.set(prefix, String(value));
    for (const [name, inner] of Object.entries(value)) add(prefix ? `${prefix}[${name}]` : name, inner);
  };
  add('', parsed(body));
  return fields;
}
