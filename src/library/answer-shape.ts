import type { ControlApi } from '../http/control/routes.ts';

type Answer<Key extends keyof ControlApi> = ControlApi[Key]['answer'];
type FieldOf<Key extends keyof ControlApi> =
  Answer<Key> extends { data: readonly (infer Entry)[] } ? keyof Entry : keyof Answer<Key>;

type Noun =
  | 'payments'
  | 'ipns'
  | 'cards'
  | 'wallets'
  | 'merchants'
  | 'inbox'
  | 'requests'
  | 'faults'
  | 'clock'
  | 'status';

/** The fields that identify a record of gateway-sim, by noun. */
const RECORDS: { readonly [Name in Noun]: readonly FieldOf<`GET /${Name}`>[] } = {
  payments: ['id', 'identifier', 'status', 'amount', 'currency', 'createdAt', 'checkoutUrl', 'warnings'],
  ipns: ['id', 'state', 'url', 'attempts'],
  cards: ['id', 'status', 'number', 'merchantId'],
  wallets: ['id', 'email', 'holder', 'balance', 'currency'],
  merchants: ['id', 'name', 'publicKey', 'secretKey'],
  inbox: ['identifier', 'email', 'code'],
  requests: ['id', 'method', 'target', 'status'],
  faults: ['route', 'summary'],
  clock: ['now', 'aheadMs'],
  status: ['version', 'url', 'counts', 'clock', 'faults', 'fidelity', 'options', 'pid'],
};

/** The identifying fields of responses with other shapes. */
const OTHERS: { readonly [Key in keyof ControlApi]?: readonly (keyof Answer<Key>)[] } = {
  'POST /payments/:ref/settle': ['payment'],
  'POST /cards/:id/transactions': ['card', 'transaction'],
  'POST /shutdown': ['pid'],
  'POST /reset': ['counts'],
  'PUT /snapshot': ['counts'],
  'GET /snapshot': ['version'],
};

/** Whether a body has the shape of a response to this request: a record or a list of records. */
export function hasShapeOf(key: string, body: unknown): boolean {
  const [, noun = ''] = /^\w+ \/(\w+)/.exec(key) ?? [];
  const names = (OTHERS as Names)[key] ?? (RECORDS as Names)[noun] ?? [];
  const { data = [body] } = (body ?? {}) as { data?: unknown };
  if (!Array.isArray(data) || !data.every((record) => isRecord(record, names))) return false;
  // There is always a default merchant.
  return key !== 'GET /merchants' || data.some(({ isDefault }) => isDefault === true);
}

type Names = Readonly<Record<string, readonly string[]>>;

const isRecord = (value: unknown, names: readonly string[]): boolean =>
  typeof value === 'object' && value !== null && names.every((name) => Object.hasOwn(value, name));
