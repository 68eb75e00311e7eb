import * as z from 'zod/mini';
import { count, field, named, nullableText, text } from './field.ts';

/*
 * Why an attempt does not count as received, as data (chosen). What stands in the attempt beside it, such as the
 * address and the status, is not repeated. `describe-delivery.ts` puts it into words.
 */

/** Why the egress guard keeps a request from being sent. */
export const EGRESS_REASONS = ['emulator', 'metadata', 'public', 'unresolved', 'no_address'] as const;

const host = field(text, 'The name or address that was asked for, without its port.');
const address = field(nullableText, 'What the name resolved to; null where it was not resolved.');
const port = field(count, 'Its port.');
const reason = field(
  z.enum(EGRESS_REASONS),
  'Of `egress`. `emulator`: it is the emulator itself; `metadata`: where a cloud keeps credentials; `public`: neither loopback nor private; `unresolved`: a public name that may still resolve to a private address; `no_address`: the name has none.',
);
const limitMs = field(count, 'Of `timed_out`: how long was waited, in milliseconds.');
const message = field(text, 'Of `tls`, `malformed` and `other`: what the system says.');

const plain = <Code extends string>(code: Code) => z.object({ code: z.literal(code) });

export const AttemptFailure = named(
  {
    name: 'AttemptFailure',
    description: 'Why an attempt does not count as received.',
    fields: {
      code: field(
        text,
        '`answered`: another status than 2xx. `fault`: a fault rule kept it from being sent. All others: there was no answer, or not all of it.',
      ),
      reason,
      host,
      address,
      port,
      limitMs,
      message,
    },
    io: 'output',
  },
  z.discriminatedUnion('code', [
    plain('answered'),
    plain('connection_refused'),
    plain('connection_reset'),
    plain('name_not_found'),
    plain('no_route'),
    plain('expects_http'),
    plain('expects_https'),
    plain('certificate'),
    plain('address'),
    plain('stopping'),
    plain('fault'),
    z.object({ code: z.literal('timed_out'), limitMs: limitMs.schema }),
    z.object({ code: z.literal('tls'), message: message.schema }),
    z.object({ code: z.literal('malformed'), message: message.schema }),
    z.object({ code: z.literal('other'), message: message.schema }),
    z.object({
      code: z.literal('egress'),
      host: host.schema,
      address: address.schema,
      port: port.schema,
      reason: reason.schema,
    }),
  ]),
);
export type AttemptFailure = z.output<typeof AttemptFailure>;
export type EgressFailure = Extract<AttemptFailure, { code: 'egress' }>;
