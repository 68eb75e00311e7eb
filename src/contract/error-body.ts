import * as z from 'zod/mini';
import { ERRORS } from './error.ts';
import { field, record, text } from './field.ts';
import { namesOf } from './vocabulary.ts';

const errorFields = {
  error: field(z.literal('true'), 'Always the text "true".'),
  message: field(text, 'The first problem, with the wire name of the field.'),
  errors: field(z.array(text), 'Every problem.'),
};

export const ServiceError = record('Error', 'An error of the service.', errorFields);
export type ServiceError = z.output<typeof ServiceError>;

const OptionHint = record('OptionHint', 'An option of `start`.', {
  option: field(text, 'Its camelCase name.'),
  value: field(z.optional(text), 'A suggested value.'),
});
const CommandHint = record('CommandHint', 'A command of gateway-sim.', {
  command: field(text, 'Its name, such as `keys show`.'),
  args: field(z.optional(z.array(text)), 'Arguments, quoted for a shell.'),
  options: field(z.optional(z.array(OptionHint)), 'Options of `start` to add to the current ones.'),
});

export const ControlError = record(
  'ControlError',
  "An error of the control API: the service's fields, plus a code and a hint.",
  {
    ...errorFields,
    code: field(z.enum(namesOf(ERRORS)), 'The kind of error.'),
    remedy: field(z.optional(text), 'What to do about it.'),
    hint: field(
      z.optional(z.array(z.union([text, CommandHint, OptionHint]))),
      '`remedy` as data: texts, commands, and options of `start` by their camelCase names.',
    ),
  },
);
export type ControlError = z.output<typeof ControlError>;
