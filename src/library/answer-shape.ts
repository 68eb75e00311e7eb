import type { ControlApi } from '../http/control/routes.ts';

type Answer<Key extends keyof ControlApi> = ControlApi[Key]['answer'];
/** Keys of the routes that answer with a list. */
type ListKey = {
  [Key in keyof ControlApi]: [Answer<Key>] extends [never]
    ? never
    : Answer<Key> extends { data: readonly unknown[] }
      ? Key
      : never;
}[keyof ControlApi];
type EntryOf<Key extends ListKey> = Answer<Key>['data'][number];

/** What the records of an answer must have to be taken for one of gateway-sim: whatever else lacks is seen in use. */
const RECORDS: { readonly [Key in keyof ControlApi]?: readonly (keyof Answer<Key>)[] } = {
  'GET /status': ['version', 'url', 'counts', 'clock', 'faults', 'fidelity', 'options', 'pid'],
  'POST /shutdown': ['pid'],
  'GET /payments/:ref': ['id', 'identifier', 'status', 'checkoutUrl', 'warnings', 'timeline'],
  'POST /payments/:ref/settle': ['payment'],
  'GET /ipns/:id': ['id', 'state', 'attempts'],
  'POST /ipns/:id/resend': ['id', 'state', 'attempts'],
  'GET /cards/:id': ['id', 'number', 'merchantId', 'transactions'],
  'POST /cards/:id/transactions': ['card', 'transaction'],
  'POST /wallets/:id/fund': ['id', 'balance', 'currency'],
  'POST /merchants': ['id', 'name', 'publicKey', 'secretKey'],
  'POST /merchants/:id/keys': ['id', 'name', 'publicKey', 'secretKey'],
  'GET /clock': ['now', 'aheadMs'],
  'POST /clock': ['now', 'aheadMs'],
  'POST /faults': ['route', 'summary'],
  'POST /reset': ['counts'],
  'PUT /snapshot': ['counts'],
  'GET /snapshot': ['version'],
};

const ENTRIES: { readonly [Key in ListKey]: readonly (keyof EntryOf<Key>)[] } = {
  'GET /payments': [
    'id',
    'identifier',
    'status',
    'amount',
    'currency',
    'createdAt',
    'checkoutUrl',
    'warnings',
  ],
  'GET /ipns': ['id', 'state', 'url', 'attempts'],
  'GET /cards': ['id', 'status', 'number'],
  'GET /wallets': ['id', 'email', 'holder', 'balance', 'currency'],
  'GET /merchants': ['id', 'name', 'isDefault', 'publicKey', 'secretKey'],
  'GET /inbox': ['identifier', 'email', 'code'],
  'GET /requests': ['id', 'method', 'target', 'status'],
  'GET /faults': ['route', 'summary'],
  'PUT /faults': ['route', 'summary'],
  'DELETE /faults': ['route', 'summary'],
};

/** Whether a body has the shape of an answer to this request. */
export function hasShapeOf(key: string, body: unknown): boolean {
  if (!isRecord(body, (RECORDS as Names)[key] ?? [])) return false;
  const entries = (ENTRIES as Names)[key];
  if (entries === undefined) return true;
  const { data } = body as { data?: unknown };
  if (!Array.isArray(data) || !data.every((entry) => isRecord(entry, entries))) return false;
  // There is always one that is meant where none is named.
  return key !== 'GET /merchants' || data.some(({ isDefault }) => isDefault === true);
}

type Names = Readonly<Record<string, readonly string[]>>;

const isRecord = (value: unknown, names: readonly string[]): boolean =>
  typeof value === 'object' && value !== null && names.every((name) => Object.hasOwn(value, name));
