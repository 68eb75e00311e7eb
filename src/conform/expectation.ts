import { isLuhnNumber } from '../contract/luhn.ts';
import type { Expected, ExpectedIpn } from '../contract/manifest.ts';
import { plainText } from '../contract/plain-text.ts';
import { matches } from '../system/match-pattern.ts';
import type { IpnTools } from '../wire/dialect.ts';
import { at, parsed } from './json.ts';
import type { ReceivedIpn } from './listener.ts';
import type { Seen } from './session.ts';
import { header } from './target.ts';

/** What was expected, and what came instead. */
export interface Mismatch {
  expected: string;
  got: string;
}

/** Maximum characters of a value in a mismatch: much more than is shown, so that what is masked before is whole. */
const KEPT = 4_000;

const shown = (value: unknown): string => {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.slice(0, KEPT);
};

/** Collects mismatches. */
class Findings {
  readonly list: Mismatch[] = [];

  equal(what: string, wanted: unknown, got: unknown): void {
    if (JSON.stringify(wanted) !== JSON.stringify(got))
      this.differ(`${what} ${shown(wanted)}`, `${shown(got)}`);
  }

  match(what: string, pattern: string, got: unknown): void {
    const text = plainText(got);
    const isMatch = text !== undefined && matches(new RegExp(pattern, 'u'), text);
    if (!isMatch) this.differ(`${what} like /${pattern}/`, shown(got));
  }

  differ(expected: string, got: string): void {
    this.list.push({ expected, got });
  }
}

/** In what an answer, and the IPN that followed, are other than a line says. */
export function mismatches(expected: Expected, seen: Seen, secretKey: string, tools: IpnTools): Mismatch[] {
  const findings = new Findings();
  if (expected.status !== undefined) findings.equal('status', expected.status, seen.status);
  for (const [path, value] of Object.entries(expected.json ?? {})) {
    const wanted = typeof value === 'string' ? seen.fill(value) : value;
    findings.equal(path, wanted, at(seen.json, path));
  }
  for (const [path, pattern] of Object.entries(expected.matches ?? {})) {
    findings.match(path, pattern, path === 'body' ? seen.body : at(seen.json, path));
  }
  for (const [name, pattern] of Object.entries(expected.headers ?? {})) {
    findings.match(`header ${name}`, pattern, header(seen.headers, name));
  }
  if (expected.redirect !== undefined)
    findings.equal('a redirect to', seen.fill(expected.redirect), seen.redirect);
  checkShape(expected, seen, findings);
  if (expected.names) checkRefusal(expected.names, seen.json, findings);
  if (expected.ipn) checkIpn(expected.ipn, seen, secretKey, tools, findings);
  return findings.list;
}

function checkShape(
  { has, lacks, types, lengths, luhn, text }: Expected,
  seen: Seen,
  findings: Findings,
): void {
  for (const path of has ?? []) {
    if (at(seen.json, path) === undefined) findings.differ(`a field ${path}`, shown(seen.json));
  }
  for (const path of lacks ?? []) {
    const value = at(seen.json, path);
    if (value !== undefined) findings.differ(`no field ${path}`, `${path} ${shown(value)}`);
  }
  for (const [path, type] of Object.entries(types ?? {})) {
    const value = at(seen.json, path);
    if (typeOf(value) !== type && !(type === 'number' && typeOf(value) === 'integer')) {
      findings.differ(`${path} of the type ${type}`, shown(value));
    }
  }
  for (const [path, length] of Object.entries(lengths ?? {})) {
    const value = at(seen.json, path);
    const count = Array.isArray(value) ? value.length : undefined;
    if (count !== length) findings.differ(`${path} with ${length} entries`, shown(value));
  }
  for (const path of luhn ?? []) {
    const value = at(seen.json, path);
    if (!isLuhnNumber(plainText(value) ?? ''))
      findings.differ(`${path} with a check digit of Luhn`, shown(value));
  }
  for (const part of text ?? []) {
    if (!seen.body.includes(seen.fill(part))) findings.differ(`${shown(part)} in the body`, shown(seen.body));
  }
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/** A refusal in any shape: an error, nothing of a success, and texts that name what is wrong. */
function checkRefusal(names: readonly string[], json: unknown, findings: Findings): void {
  const isRefused = [true, 'true', 'yes', 1, '1'].some((value) => value === at(json, 'error'));
  const isTaken = at(json, 'success') !== undefined || at(json, 'url') !== undefined;
  if (!isRefused || isTaken) {
    findings.differ('a refusal', shown(json));
    return;
  }
  const told = plain(JSON.stringify([at(json, 'message'), at(json, 'errors')]));
  for (const name of names) {
    if (!told.includes(plain(name))) findings.differ(`a refusal that names ${name}`, shown(json));
  }
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
  if (ipns.length !== count) findings.differ(countOf(count), countOf(ipns.length));
  if (!ipn) return;
  if (ipns.some(({ body }) => body !== ipn.body)) findings.differ('the same IPN again', 'another body');
  if (expected.early && !early) findings.differ('the IPN before the redirect', 'it came later');
  const fields = fieldsOf(ipn);
  for (const [name, value] of Object.entries(expected.fields ?? {})) {
    findings.equal(name, fill(value), fields.get(name));
  }
  for (const [name, pattern] of Object.entries(expected.matches ?? {})) {
    findings.match(name, pattern, name === 'body' ? ipn.body : fields.get(name));
  }
  for (const name of expected.lacks ?? []) {
    if (fields.has(name)) findings.differ(`no field ${name}`, `${name} ${shown(fields.get(name))}`);
  }
  if (expected.order) findings.equal('fields', expected.order, [...fields.keys()]);
  for (const [name, pattern] of Object.entries(expected.headers ?? {})) {
    findings.match(`header ${name}`, pattern, ipn.headers[name]);
  }
  if (expected.method !== undefined) findings.equal('method', expected.method, ipn.method);
  if (expected.query !== undefined) findings.equal('query', fill(expected.query), ipn.query);
  if (!expected.signed) return;
  const { amount, identifier, signature } = tools.names;
  const own = tools.sign(fields.get(amount) ?? '', fields.get(identifier) ?? '', secretKey);
  findings.equal('signature', own, fields.get(signature));
}

const countOf = (count: number) => `${count} IPN${count === 1 ? '' : 's'}`;

/** The fields as a form has them, whether it came as one or as JSON. */
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
