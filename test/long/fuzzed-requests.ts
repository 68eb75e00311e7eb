import type { Document, Operation, Schema } from '../helpers/contract.ts';
import type { TrialRequest } from './client.ts';
import { type Below, pick, ValueMaker } from './hostile-values.ts';

/** Keys and ids that exist in the emulator. */
export interface Known {
  publicKey: string;
  secretKey: string;
  /** Ids, by the noun in the path. */
  ids: Readonly<Record<'payments' | 'ipns' | 'cards' | 'merchants' | 'wallets', readonly string[]>>;
}

export interface FuzzedRequest extends TrialRequest {
  /** For example `POST /_sim/payments/{ref}/settle`. */
  operation: string;
}

const FORM = 'application/x-www-form-urlencoded';
const TYPES = [
  FORM,
  'application/json',
  'multipart/form-data; boundary=x',
  'text/plain',
  '',
  'application/json; charset=utf-16',
];
/** A route that no request uses: the fuzzer's fault rules must not replace responses of the service. */
const NEVER_ASKED = '/never/*';

/** Generates requests to every operation of an OpenAPI document. */
export class RequestMaker {
  readonly #operations: [operation: string, described: Operation][];
  readonly #below: Below;
  readonly #values: ValueMaker;
  known: Known = {
    publicKey: '',
    secretKey: '',
    ids: { payments: [], ipns: [], cards: [], merchants: [], wallets: [] },
  };

  constructor(document: Document, below: Below) {
    this.#below = below;
    this.#values = new ValueMaker(document, below);
    this.#operations = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, described]): [string, Operation] => [
        `${method.toUpperCase()} ${path}`,
        described,
      ]),
    );
  }

  next(): FuzzedRequest {
    const [operation, described] = pick(this.#operations, this.#below);
    const [method = '', path = ''] = operation.split(' ');
    const headers = this.#headers(operation);
    const filled = path.replace(/\{\w+\}/g, () => encodeURIComponent(wellFormed(this.#id(path))));
    const target = filled + this.#query(described, path);
    const [type, body] = described.requestBody ? this.#body(described.requestBody.content, path) : ['', ''];
    if (type) headers['Content-Type'] = type;
    if (method !== 'GET') headers['Content-Length'] = String(Buffer.byteLength(body));
    return { operation, method, target, headers, body };
  }

  #headers(operation: string): Record<string, string> {
    const below = this.#below;
    const headers: Record<string, string> = { Host: '127.0.0.1' };
    // Without this header it would stop the emulator. A page from another origin must not be able to do that.
    if (operation.endsWith('/_sim/shutdown')) headers['Origin'] = 'http://evil.test';
    const key = below(8) ? this.known.secretKey : 'wrong';
    if (operation.includes(' /api/')) headers['Authorization'] = `Bearer ${key}`;
    if (!below(10)) headers['Accept-Language'] = pick(['fr', 'fr;q=x', ',,,', '*', 'a'.repeat(300)], below);
    if (!below(20)) headers['Cookie'] = `gateway_sim_token=${pick(['%zz', 'a', '"', '=;=', ''], below)}`;
    if (!below(20)) headers['Accept'] = pick(['text/html', 'application/json', '*/*;q=0', 'x'], below);
    if (operation.endsWith('/events')) headers['Last-Event-ID'] = pick(['0', '-1', 'x', '1e9', ''], below);
    return headers;
  }

  #id(path: string): string {
    const { ids } = this.known;
    const noun = (/^\/(?:_sim|api)\/(\w+)/.exec(path)?.[1] ?? 'payments') as keyof Known['ids'];
    const known = ids[noun] ?? ids.payments;
    if (known.length && this.#below(4)) return pick(known, this.#below);
    return this.#values.text().slice(0, 500) || 'x';
  }

  #query({ parameters = [] }: Operation, path: string): string {
    const below = this.#below;
    const search = new URLSearchParams();
    for (const parameter of parameters as { name: string; in: string; schema?: Schema }[]) {
      if (parameter.in !== 'query') continue;
      const { name } = parameter;
      if (name === 'payment_id' || name === 'payment') search.append(name, this.#id('/_sim/payments'));
      // Otherwise, the response would never end.
      else if (name === 'follow') search.append(name, pick(['false', 'FALSE', '2', ''], below));
      else if (below(3) === 0)
        search.append(name, wellFormed(textOf(this.#values.value(parameter.schema ?? {}))));
      if (name !== 'follow' && below(12) === 0) search.append(name, wellFormed(this.#values.text()));
    }
    if (below(10) === 0 && !path.endsWith('/events')) search.append(this.#values.text(), 'x');
    const text = search.toString().slice(0, 8_000);
    const spoiled = below(30) === 0 ? `${text}&%zz=%E0%A4%A` : text;
    return spoiled ? `?${spoiled}` : '';
  }

  /** Generates a body and its content type, which is sometimes the wrong one. */
  #body(content: NonNullable<Operation['requestBody']>['content'], path: string): [string, Buffer | string] {
    const below = this.#below;
    const [declared, { schema, examples }] = pick(Object.entries(content), below);
    const example = pick(Object.values(examples ?? { none: { value: {} } }), below).value;
    const fields: Record<string, unknown> = { ...(example as object), ...this.#ours(path, example) };
    const changes = this.#values.object(schema);
    const count = below(4);
    for (const [name, value] of Object.entries(changes)
      .sort(() => below(3) - 1)
      .slice(0, count))
      fields[name] = value;
    if (below(6) === 0) delete fields[pick(Object.keys(fields), below) ?? ''];
    this.#tame(fields, path);
    const type = below(12) ? declared : pick(TYPES, below);
    const body = written(fields, type, below);
    return [
      type.startsWith('multipart') ? 'multipart/form-data; boundary=x' : type,
      below(15) ? body : this.#spoiled(body),
    ];
  }

  /** Values of this emulator, which replace the example's values. */
  #ours(path: string, example: unknown): object {
    if (path.endsWith('/initiate')) {
      const { publicKey } = this.known;
      return { public_key: publicKey, ipn_url: 'http://127.0.0.1:9/ipn', identifier: `f${this.#below(1e6)}` };
    }
    const hasTo = typeof example === 'object' && example !== null && 'to' in example;
    if (hasTo) return { to: 'http://127.0.0.1:9/ipn' };
    return path.endsWith('/toggle') ? { card_id: this.#id('/api/cards') } : {};
  }

  /** Replaces values that would only delay the trial, or rules that would replace responses of the service. */
  #tame(fields: Record<string, unknown>, path: string): void {
    if (path === '/_sim/ipns') {
      if ('delay' in fields) fields['delay'] = '0ms';
      const { times } = fields;
      // Converting an object to a number may throw.
      if (typeof times !== 'object' && Number(times) > 20)
        fields['times'] = pick([20, 1_001, 1e9], this.#below);
    }
    if (path === '/_sim/faults') {
      fields['route'] = pick([NEVER_ASKED, NEVER_ASKED, 'initiat', '', 5], this.#below);
      if (Array.isArray(fields['faults']))
        fields['faults'] = [{ ...this.#values.object({ $ref: 'FaultRule' }), route: NEVER_ASKED }];
    }
  }

  #spoiled(body: string): Buffer | string {
    const below = this.#below;
    const bytes = Buffer.from(body);
    switch (below(7)) {
      case 0:
        return bytes.subarray(0, below(bytes.length + 1));
      case 1:
        return `\ufeff${body}`;
      case 2:
        return '['.repeat(20_000);
      case 3:
        return Buffer.alloc(below(5) ? 5_000 : 2 ** 20 + 1, 'a');
      case 4:
        return Buffer.from(Array.from({ length: 64 }, () => below(256)));
      case 5:
        return body.replace(/^\{/, '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},');
      default:
        return `${body}&${body}`;
    }
  }
}

const wellFormed = (text: string) => text.replace(/\p{Surrogate}/gu, '\ufffd');

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** Encodes fields as a body. Sometimes it repeats a field or adds brackets to its name. */
function written(fields: Record<string, unknown>, type: string, below: Below): string {
  if (!type.includes('form')) {
    const text = JSON.stringify(fields);
    return below(10) ? text : text.replace(/^\{(".*?":)/, '{$1null,$1');
  }
  const pairs = Object.entries(fields).map(([name, value]): [string, string] => [
    below(20) ? name : `${name}[${pick(['', '0', 'a', '__proto__'], below)}]`,
    wellFormed(textOf(value)),
  ]);
  const doubled = below(8) || !pairs.length ? pairs : [...pairs, pick(pairs, below)];
  if (!type.startsWith('multipart')) return new URLSearchParams(doubled).toString();
  const parts = doubled.map(
    ([name, value]) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return `${parts.join('')}--x--\r\n`;
}
