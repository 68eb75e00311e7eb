import * as z from 'zod/mini';
import type { ErrorCode } from './error.ts';
import { field, record, text } from './field.ts';

/** HTTP status of each error. Refused initiates are answered 200 unless `--error-status http` (observed). */
export const STATUS = {
  invalid_fields: 422,
  unsupported_currency: 422,
  invalid_api_key: 401,
  unparseable_body: 400,
  unsupported_media_type: 415,
  body_too_large: 413,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  wrong_state: 409,
  expired: 410,
  insufficient_funds: 409,
  storage_failed: 507,
  state_damaged: 500,
  folder_in_use: 500,
  port_in_use: 500,
  no_server: 500,
  timed_out: 504,
  usage: 422,
  check_failed: 422,
  internal: 500,
} as const satisfies Record<ErrorCode, number>;

const errorFields = {
  error: field(z.literal('true'), 'Always the text "true" (documented).'),
  message: field(text, 'The first problem, naming the field by its name on the wire (documented).'),
  errors: field(z.array(text), 'Every problem (observed).'),
};

/** The one shape of an error on the wire. */
export const ServiceError = record('Error', 'An error of the service (documented).', errorFields);
export type ServiceError = z.output<typeof ServiceError>;

const CommandHint = record('CommandHint', 'A command of gateway-sim.', {
  command: field(text, 'Its name, such as `keys show`.'),
  args: field(z.optional(z.array(text)), 'What follows the name, ready for a shell.'),
});
const OptionHint = record('OptionHint', 'An option of `start`.', {
  option: field(text, 'Its camelCase name.'),
  value: field(z.optional(text), 'A value that helps.'),
});

/** What is below /_sim only is added to what the service tells. */
export const ControlError = record(
  'ControlError',
  'An error of the control API: the shape of the service, and what programs and people can act on.',
  {
    ...errorFields,
    code: field(z.enum(Object.keys(STATUS) as [ErrorCode, ...ErrorCode[]]), 'What kind of error it is.'),
    remedy: field(z.optional(text), 'What to do about it.'),
    hint: field(
      z.optional(z.array(z.union([text, CommandHint, OptionHint]))),
      'The same as data: texts, commands, and options of `start` by their camelCase names.',
    ),
  },
);
export type ControlError = z.output<typeof ControlError>;
