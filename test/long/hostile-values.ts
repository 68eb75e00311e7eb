import type { Document, Schema } from '../helpers/contract.ts';

/** Draws an integer from 0 up to, but not including, this number. */
export type Below = (number: number) => number;

/** Texts that have broken some parser. None is a host name, because no name may be looked up. */
export const HOSTILE_TEXTS: readonly string[] = [
  ...['', ' ', '\t', '\0', 'a\0b', 'a\r\nX-Injected: 1', '\u001b[31m', '\u007f', '\u0085', '\u2028'],
  ...['\u202e\u200b', '\ufeff', '\ud800', '\udfff\ud800', '😀', 'e\u0301', 'ﷺ', 'Ａ', 'İ', 'ß'],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'then', 'valueOf'],
  ...['null', 'undefined', 'true', 'false', 'NaN', 'Infinity', '[object Object]', '[]', '{}', '"', "'"],
  ...['0', '-0', '-1', '+1', '1e3', '1e309', '0x10', '00.10', '.5', '5.', '1,000.00', '١٢٣', '１'],
  ...['99999999999999999999', '0.00000001', '0.000000001', '9007199254740993', '2147483648'],
  ...['%', '%00', '%zz', '%E0%A4%A', '%25', '+', '&', '=', ';', '#', '?', '/', '\\', '..'],
  ...['<script>alert(1)</script>', "' OR 1=1 --", '$' + '{7*7}', '{{7*7}}', '$(id)', '`id`', '|id'],
  ...['../../etc/passwd', 'http://127.0.0.1:9/ipn', 'http://[::1]:9/', 'http://0/', 'http://127.1:9'],
  ...['http://user:pw@127.0.0.1:9/', 'http://', 'http://[', 'https://127.0.0.1:99999/'],
  ...['javascript:alert(1)', 'data:,', 'file:///etc/passwd'],
  ...['http://169.254.169.254/', 'http://[::ffff:169.254.169.254]/', 'http://2852039166/', '//127.0.0.1/'],
  ...['2026-02-30T00:00:00Z', '275760-09-13T00:00:00Z', '+275761-01-01T00:00:00Z', '-000001-01-01T00:00:00Z'],
  ...['9999-12-31T23:59:59Z', '2027-01-01T00:00:00+99:99', '999999999h', '0ms', '1.5s', '-1s'],
  ...['a@b.c', '@', 'a@', `${'a'.repeat(300)}@b.c`, 'USD', 'usd', 'XXX', 'success', 'approve', 'pending'],
];

const OTHER_TYPES: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e308, 2 ** 53, [], [[]], {}, ['a', 'b'], { a: { a: { a: 1 } } }],
  ...[{ $ne: null }, { toString: 1 }, { length: 5 }, Array.from({ length: 300 }, () => 'a')],
];

/** Lengths near common limits. */
const LENGTHS = [1, 5, 19, 20, 21, 36, 63, 64, 80, 99, 100, 101, 255, 256, 2047, 2048, 2049, 16_385, 70_000];

export function pick<Value>(values: readonly Value[], below: Below): Value {
  return values[below(values.length)] as Value;
}

/** Generates values for schemas: most of them valid, some near their limits, some invalid. */
export class ValueMaker {
  readonly #document: Document;
  readonly #below: Below;

  constructor(document: Document, below: Below) {
    this.#document = document;
    this.#below = below;
  }

  resolve(schema: Schema | boolean): Schema {
    if (typeof schema === 'boolean') return {};
    const { $ref } = schema;
    if (typeof $ref !== 'string') return schema;
    return this.resolve(this.#document.components['schemas']?.[$ref.split('/').at(-1) ?? ''] ?? {});
  }

  text(): string {
    const below = this.#below;
    if (below(5)) return pick(HOSTILE_TEXTS, below);
    return pick(['a', '9', 'é', '😀', ' ', '\0'], below).repeat(pick(LENGTHS, below));
  }

  /** Generates a value that is valid or almost valid for the schema, or any other value. */
  value(given: Schema | boolean, depth = 0): unknown {
    const below = this.#below;
    if (below(4) === 0) return below(2) ? this.text() : pick(OTHER_TYPES, below);
    const schema = this.resolve(given);
    const any = schema['anyOf'] ?? schema['oneOf'];
    if (Array.isArray(any)) return this.value(pick(any, below), depth);
    if ('const' in schema) return schema['const'];
    if (Array.isArray(schema['enum'])) return this.#near(String(pick(schema['enum'], below)));
    const type = Array.isArray(schema['type']) ? pick(schema['type'], below) : schema['type'];
    switch (type) {
      case 'integer':
      case 'number':
        return this.#number(schema);
      case 'boolean':
        return below(2) === 0;
      case 'array':
        return Array.from({ length: below(4) }, () =>
          this.value((schema['items'] ?? {}) as Schema, depth + 1),
        );
      case 'object':
        return depth > 5 ? {} : this.object(schema, depth);
      default:
        return this.#text(schema);
    }
  }

  /** Generates an object with some properties of its schema, and sometimes an unknown one. */
  object(given: Schema, depth = 0): Record<string, unknown> {
    const properties = Object.entries((this.resolve(given)['properties'] ?? {}) as Record<string, Schema>);
    const kept = properties.filter(() => this.#below(4));
    const members = kept.map(([name, schema]) => [name, this.value(schema, depth + 1)] as const);
    const extra = this.#below(6) ? [] : [[this.text(), this.text()] as const];
    return Object.fromEntries([...members, ...extra]);
  }

  #near(text: string): string {
    return pick([text, text, text, text.toUpperCase(), `${text} `, text.slice(1), `${text}\0`], this.#below);
  }

  #number({ minimum = 0, maximum = 1_000_000 }: Schema): number {
    const [low, high] = [Number(minimum), Number(maximum)];
    return pick(
      [low, high, low - 1, high + 1, low + 0.5, this.#below(Math.max(high - low, 1)) + low],
      this.#below,
    );
  }

  #text({ minLength = 0, maxLength = 20, pattern }: Schema): string {
    const below = this.#below;
    if (below(3) === 0) return this.text();
    if (typeof pattern === 'string') return pick(['http://127.0.0.1:9/ipn', '1s', '0ms', '1.00', '5'], below);
    const lengths = [
      Number(minLength),
      Number(maxLength),
      Number(maxLength) + 1,
      Math.max(Number(minLength) - 1, 0),
    ];
    return 'a'.repeat(pick(lengths, below));
  }
}
