/** How a handler reads an IPN: only fields that occur once and are text. */
export interface Fields {
  status?: string | undefined;
  signature?: string | undefined;
  identifier?: string | undefined;
  amount?: string | undefined;
  currency?: string | undefined;
  charge?: string | undefined;
}

export interface Incoming {
  method: string;
  url: URL;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

/** Reads a body as some framework does. @returns a status if the framework rejects it before any handler runs */
export type Parser = (incoming: Incoming) => Fields | number;

const LIMIT = 100 * 1024;

const header = ({ headers }: Incoming, name: string) => String(headers[name] ?? '');
const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function fieldsOf(nested: Record<string, unknown>): Fields {
  const data = isObject(nested['data']) ? nested['data'] : {};
  const currency = isObject(data['currency']) ? data['currency'] : {};
  return {
    status: textOf(nested['status']),
    signature: textOf(nested['signature']),
    identifier: textOf(nested['identifier']),
    amount: textOf(data['amount']),
    currency: textOf(currency['code']),
    charge: textOf(data['charge']),
  };
}

/** `data[amount]` is the name of a flat field. */
export const literalKeys: Parser = ({ body }) => {
  const form = new URLSearchParams(body.toString('utf8'));
  const one = (name: string) => (form.getAll(name).length === 1 ? form.get(name)?.valueOf() : undefined);
  return {
    ...{ status: one('status'), signature: one('signature'), identifier: one('identifier') },
    ...{ amount: one('data[amount]'), currency: one('data[currency][code]'), charge: one('data[charge]') },
  };
};

type Merge = (group: Record<string, unknown>, name: string, value: string) => void;

/** Without a prototype, which a field such as `__proto__[status]` would change for every object. */
const group = (): Record<string, unknown> => Object.create(null);

function nestedBy(merge: Merge, body: string): Record<string, unknown> {
  const all = group();
  for (const [key, value] of new URLSearchParams(body)) {
    const parts = key.replaceAll(']', '').split('[');
    const last = parts.pop() ?? '';
    let at = all;
    for (const part of parts) {
      const inner = at[part];
      const next = isObject(inner) ? inner : group();
      at[part] = next;
      at = next;
    }
    merge(at, last, value);
  }
  return all;
}

/** The last one wins. */
export const phpNested: Parser = ({ body }) =>
  fieldsOf(
    nestedBy((group, name, value) => {
      group[name] = value;
    }, body.toString('utf8')),
  );

/** Repeated fields become a list. */
export const qsNested: Parser = ({ body }) =>
  fieldsOf(
    nestedBy((group, name, value) => {
      const before = group[name];
      group[name] = before === undefined ? value : [before, value].flat();
    }, body.toString('utf8')),
  );

/** JSON as well as a form; invalid JSON is rejected. */
export const jsonToo =
  (form: Parser): Parser =>
  (incoming) => {
    if (!header(incoming, 'content-type').includes('json')) return form(incoming);
    try {
      const parsed: unknown = JSON.parse(incoming.body.toString('utf8'));
      return isObject(parsed) ? fieldsOf(parsed) : 400;
    } catch {
      return 400;
    }
  };

/** Like Laravel before any code of the shop runs: trims white space, and turns empty text into null. */
export const trimming =
  (form: Parser): Parser =>
  (incoming) => {
    const read = form(incoming);
    if (typeof read === 'number') return read;
    return Object.fromEntries(
      Object.entries(read).map(([name, value]) => [name, value?.trim() || undefined]),
    );
  };

export const refusesGzip =
  (form: Parser): Parser =>
  (incoming) =>
    header(incoming, 'content-encoding') === '' ? form(incoming) : 415;

export const limited =
  (form: Parser): Parser =>
  (incoming) =>
    incoming.body.length > LIMIT ? 413 : form(incoming);

export const refusesChunked =
  (form: Parser): Parser =>
  (incoming) =>
    header(incoming, 'transfer-encoding') === '' ? form(incoming) : 411;

export const formOnly =
  (form: Parser): Parser =>
  (incoming) =>
    /^application\/x-www-form-urlencoded\b/i.test(header(incoming, 'content-type')) ? form(incoming) : 415;
