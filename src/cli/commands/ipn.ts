import { TAMPERINGS } from '../../contract/tampering.ts';
import { DELIVERY_STATES, IPN_FORMATS } from '../../contract/vocabulary.ts';
import { SEEN_IN_PS } from '../../options/secret-file.ts';
import {
  type ActionsOf,
  assignments,
  choice,
  type Declarations,
  flag,
  group,
  list,
  pagedBy,
  repeated,
  text,
} from '../command.ts';

const KEYS = {
  secret: text('key', `secret key to check with (default: that of the running emulator); ${SEEN_IN_PS}`),
  merchant: text('name', 'with the key of this merchant (default: the first one)'),
};

const ALLOW_IPN_HOST = list('host', 'let IPNs out from here to this public host; repeatable');

export const COMMANDS = {
  list: {
    summary: 'deliveries with their attempts, newest first',
    fields: pagedBy({
      payment: text('ref', 'only those of this payment: id or identifier'),
      state: choice('state', 'only those of this state', DELIVERY_STATES),
    }),
    examples: ['ipn list --state failed', 'ipn list --payment order-1'],
  },
  show: {
    args: ['<id>'],
    summary: 'one delivery, both sides of every attempt',
    examples: ['ipn show ipn_ndx7mhc09sz61bt8'],
  },
  resend: {
    args: ['<id>'],
    summary: 'send a delivery once more',
    fields: { to: text('url', 'to another address, as a new delivery') },
    options: { requireDelivery: flag('exit 1 unless it was answered with 2xx') },
    examples: [
      'ipn resend ipn_ndx7mhc09sz61bt8',
      'ipn resend ipn_ndx7mhc09sz61bt8 --to http://localhost:4000/ipn',
    ],
  },
  fire: {
    summary: 'send a signed IPN by hand, attempted once',
    fields: {
      to: text('url', 'address to send it to (default: the ipn_url of the payment)'),
      payment: text('ref', 'of this payment: id or identifier (default: one that never was)'),
      identifier: text('text', 'identifier of the merchant'),
      amount: text('amount', 'amount as decimal text'),
      currency: text('code', 'currency code (default: USD)'),
      status: text('status', 'status (default: success)'),
      set: assignments(
        'any field, such as data.charge=1, set before signing; signature[]=x makes a list; repeatable',
      ),
      unset: repeated('field', 'leave this field out, such as data.charge or signature; repeatable'),
      tamper: repeated(
        'what',
        'tamper with this after signing, such as amount or identifier=order-2: must be rejected; repeatable',
        TAMPERINGS,
      ),
      format: choice('format', 'how it is written', IPN_FORMATS),
      times: text('number', 'number of deliveries of the same bytes'),
      delay: text('duration', 'wait before each of them'),
    },
    options: {
      secret: text('key', `sign with this key and send from here: no server is needed; ${SEEN_IN_PS}`),
      parallel: text(
        'number',
        'send this many copies in the same instant, from here; the emulator records none',
      ),
      allowIpnHost: ALLOW_IPN_HOST,
      requireDelivery: flag('exit 1 unless each was answered with 2xx'),
      expectRefusal: flag('exit 1 when one was answered with 2xx, 3 when nobody answered'),
    },
    examples: [
      'ipn fire --payment order-1',
      'ipn fire --to http://localhost:3000/ipn --amount 49.90 --tamper amount=0.01 --tamper currency',
      'ipn fire --payment order-1 --unset signature --expect-refusal',
      'ipn fire --payment order-1 --parallel 20',
      'ipn fire --to http://localhost:3000/ipn --secret sec_sim_1 --set data.charge=1',
    ],
  },
  verify: {
    args: ['[body]'],
    summary: 'whether an IPN is valid, or why not',
    options: {
      body: text('body', 'the body: its text, @file, - for stdin, or the id of an IPN (default: stdin)'),
      ...KEYS,
      publicKey: text('key', 'to tell when this was mistaken for the secret key'),
    },
    examples: [
      'ipn verify ipn_ndx7mhc09sz61bt8',
      'ipn verify @body.txt',
      'ipn verify --secret sec_sim_1 --body @body.txt',
    ],
  },
  listen: {
    summary: 'receive, verify and print IPNs',
    options: {
      port: text('number', 'port to listen on; 0 takes a free one (default: 3000)'),
      forwardTo: text('url', 'pass everything on unchanged, and answer what is answered there'),
      allowIpnHost: ALLOW_IPN_HOST,
      ...KEYS,
    },
    examples: ['ipn listen', 'ipn listen --port 4000 --forward-to http://localhost:3000/ipn'],
  },
} as const satisfies Declarations;
export type Actions = ActionsOf<typeof COMMANDS>;

export const ipn = group({
  name: 'ipn',
  summary: 'list, resend, make, verify and receive IPNs',
  examples: ['ipn', 'ipn fire --payment order-1'],
  commands: COMMANDS,
  load: () => import('../actions/ipn.ts'),
});
