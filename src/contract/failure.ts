import * as z from 'zod/mini';
import { count, field, named, nullableText, text } from './field.ts';

/*
 * Why an attempt failed, as data (chosen). Does not repeat fields of the attempt, such as the address and the
 * status. `describe-delivery.ts` turns it into sentences.
 */

/** Why the egress guard blocks a request. */
const EGRESS_REASONS = ['emulator', 'metadata', 'public', 'unresolved', 'no_address'] as const;

const host = field(text, 'The requested name or address, without the port.');
const address = field(nullableText, 'The resolved address; null if the name was not resolved.');
const port = field(count, 'Its port.');
const reason = field(
  z.enum(EGRESS_REASONS),
  'For `egress`. `emulator`: the emulator itself; `metadata`: the metadata service of a cloud; `public`: neither loopback nor private; `unresolved`: a public name that was not resolved; `no_address`: the name has no address.',
);
const limitMs = field(count, 'For `timed_out`: the time limit, in milliseconds.');
const message = field(text, 'For `tls`, `malformed` and `other`: the system error.');

const plain = <Code extends string>(code: Code) => z.object({ code: z.literal(code) });

export const AttemptFailure = named(
  {
    name: 'AttemptFailure',
    description: 'Why an attempt failed.',
    fields: {
      code: field(
        text,
        '`answered`: a status other than 2xx. `fault`: a fault rule blocked it. All others: no response, or only a part of it.',
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
