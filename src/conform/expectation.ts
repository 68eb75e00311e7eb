import { headerIn } from '../contract/headers.ts';
import { plainText, pluralize } from '../contract/text.ts';
import { isLuhnNumber } from '../domain/card.ts';
import { formOf } from '../service/encoding.ts';
import { IPN_NAMES } from '../service/names.ts';
import { sign } from '../service/signature.ts';
import { matches } from '../system/match-pattern.ts';
import { at, parsed } from './answer.ts';
import type { Expected } from './manifest.ts';
import type { ReceivedIpn, Seen } from './session.ts';
import { Unseen } from './target.ts';

/** An expected value and the value received instead. */
interface Mismatch {
  expected: string;
  got: string;
}

/** The result of a line, or why there is none. */
export type Verdict = { mismatches: readonly Mismatch[] } | { why: string };

/** Maximum characters of a value in a mismatch: more than a report shows, so that masking sees whole values. */
const KEPT = 4_000;

const shown = (value: unknown): string => {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.slice(0, KEPT);
};

/**
 * Compares a response and its IPNs with the expectations of a line.
 *
 * @returns the expectations that were not met
 * @throws Unseen if a refusal may have another reason than the expected one
 */
export function compare(expected: Expected, seen: Seen, secretKey: string): Mismatch[] {
  const { status, headers, body, json, fill } = seen;
  const mismatches: Mismatch[] = [];

  function check(isMet: boolean, expected: string, got: string): void {
    if (!isMet) mismatches.push({ expected, got });
  }
  function equal(what: string, wanted: unknown, got: unknown): void {
    const holds = JSON.stringify(wanted) === JSON.stringify(got);
    check(holds, `${what} ${shown(wanted)}`, shown(got));
  }
  function match(what: string, pattern: string, got: unknown): void {
    const text = plainText(got);
    const holds = text !== undefined && matches(new RegExp(pattern, 'u'), text);
    check(holds, `${what} like /${pattern}/`, shown(got));
  }

  if (expected.status !== undefined) equal('status', expected.status, status);
  for (const [path, value] of Object.entries(expected.json ?? {})) {
    equal(path, typeof value === 'string' ? fill(value) : value, at(json, path));
  }
  for (const [path, pattern] of Object.entries(expected.matches ?? {})) {
    match(path, pattern, path === 'body' ? body : at(json, path));
  }
  for (const [name, pattern] of Object.entries(expected.headers ?? {})) {
    match(`header ${name}`, pattern, headerIn(headers, name));
  }
  const { redirect } = expected;
  if (redirect !== undefined) equal('a redirect to', fill(redirect), seen.redirect);
  if (expected.keys) {
    const got = typeof json === 'object' && json !== null ? Object.keys(json) : undefined;
    equal('the fields', expected.keys.toSorted(), got?.toSorted());
  }
  for (const path of expected.has ?? []) check(at(json, path) !== undefined, `a field ${path}`, shown(json));
  for (const path of expected.lacks ?? []) {
    const value = at(json, path);
    check(value === undefined, `no field ${path}`, `${path} ${shown(value)}`);
  }
  for (const [path, type] of Object.entries(expected.types ?? {})) {
    const value = at(json, path);
    const holds = typeOf(value) === type || (type === 'number' && typeOf(value) === 'integer');
    check(holds, `${path} of the type ${type}`, shown(value));
  }
  for (const path of expected.luhn ?? []) {
    const value = at(json, path);
    check(isLuhnNumber(plainText(value) ?? ''), `${path} with a valid Luhn check digit`, shown(value));
  }
  if (expected.taken) {
    const holds = status < 300 && json !== undefined && at(json, 'error') === undefined;
    check(holds, 'no refusal', `status ${status}: ${shown(json)}`);
  }

  // A refusal in any form: an error or error status, no sign of success, and messages that name the invalid field.
  const { names, about = names } = expected;
  if (about) {
    const error = at(json, 'error');
    const hasSuccess = at(json, 'success') !== undefined || at(json, 'url') !== undefined;
    const isError = [true, 'true', 'yes', 1, '1'].some((value) => value === error);
    const isRefusal = (isError || (status >= 400 && json !== undefined)) && !hasSuccess;
    check(isRefusal, 'a refusal', shown(json));
    const messages = plain(JSON.stringify([at(json, 'message'), at(json, 'errors')]));
    const unnamed = isRefusal ? about.filter((name) => !messages.includes(plain(name))) : [];
    if (unnamed.length && !names) throw new Unseen('the request was refused without a reason');
    for (const name of unnamed) check(false, `a refusal that names ${name}`, shown(json));
  }

  if (expected.ipn) {
    const { count = 1, fields: values = {}, matches: patterns = {}, lacks = [], ...wanted } = expected.ipn;
    const { ipns, early } = seen;
    const [ipn] = ipns;
    check(ipns.length === count, pluralize(count, 'IPN'), pluralize(ipns.length, 'IPN'));
    if (ipn) {
      const isRepeated = ipns.every((one) => one.body === ipn.body);
      check(isRepeated, 'the same IPN again', 'a different body');
      if (wanted.early) check(early > 0, 'the IPN before the redirect', 'the IPN after the redirect');
      const fields = fieldsOf(ipn);
      for (const [name, value] of Object.entries(values)) equal(name, fill(value), fields.get(name));
      for (const [name, pattern] of Object.entries(patterns)) {
        match(name, pattern, name === 'body' ? ipn.body : fields.get(name));
      }
      for (const name of lacks) {
        check(!fields.has(name), `no field ${name}`, `${name} ${shown(fields.get(name))}`);
      }
      if (wanted.order) equal('fields', wanted.order, [...fields.keys()]);
      for (const [name, pattern] of Object.entries(wanted.headers ?? {})) {
        match(`header ${name}`, pattern, ipn.headers[name]);
      }
      if (wanted.method !== undefined) equal('method', wanted.method, ipn.method);
      if (wanted.query !== undefined) equal('query', fill(wanted.query), ipn.query);
      if (wanted.signed) {
        const { amount, identifier, signature } = IPN_NAMES;
        const own = sign(fields.get(amount) ?? '', fields.get(identifier) ?? '', secretKey);
        const came = fields.get(signature);
        check(came === own, `signature ${shown(own)}`, shown(came));
      }
    }
  }
  return mismatches;
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/** Some deployments write `customer name` for `customer_name`. */
const plain = (text: string) => text.toLowerCase().replaceAll('_', ' ');

/** The fields of an IPN, named as in a form, whether it was sent as a form or as JSON. */
function fieldsOf({ headers, body }: ReceivedIpn): Map<string, string> {
  const isJson = (headers['content-type'] ?? '').includes('json');
  return new Map(isJson ? formOf(Object(parsed(body))) : new URLSearchParams(body));
}
