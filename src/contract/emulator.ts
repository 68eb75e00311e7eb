import * as z from 'zod/mini';
import { Clock } from './clock.ts';
import { Fault } from './fault.ts';
import { count, field, LINK, named, nullableText, record, request, TIME, text, time } from './field.ts';
import { PROFILE_NAMES } from './profiles.ts';
import { StatusCounts } from './state.ts';

/** Options in force. Their JSON schema is made from the table of options. */
export const Options = named(
  {
    name: 'Options',
    description:
      'Options of `start` in force, secrets masked; what is not set and has no default is left out.',
    fields: null,
    io: 'output',
  },
  z.record(text, z.unknown()),
);

export const Fidelity = record('Fidelity', 'What the behaviour of an emulator stands on.', {
  profile: field(z.enum(PROFILE_NAMES), 'The profile in force.'),
  changes: field(z.array(text), 'What is chosen against it, such as `siteLogo optional`.'),
  lines: field(count, 'Lines of the manifest that hold under it.'),
  documented: field(count, 'Those that the service interface says.'),
  observed: field(count, 'Those that published clients or deployments show.'),
  chosen: field(count, 'Those that are ours.'),
});

export const Status = record('Status', 'How a running emulator is doing.', {
  version: field(text, 'Version of gateway-sim.'),
  mode: field(z.enum(['in-memory', 'on-disk']), 'Where the state is kept.'),
  url: field(text, 'Address that checkout URLs are built on.', LINK),
  dataDir: field(nullableText, 'Folder of the state; null in memory.'),
  tlsCa: field(nullableText, 'File that clients trust; null where plain http is spoken.'),
  pid: field(count, 'Process id.'),
  startedAt: time('When it was started, in real time.'),
  clock: field(Clock, "The emulator's clock."),
  faults: field(z.array(Fault), 'Fault rules, in the order in which they are tried.'),
  counts: field(StatusCounts, 'How many records there are.'),
  fidelity: field(Fidelity, 'Its profile, and what that stands on.'),
  options: field(Options, 'Options in force.'),
});
export type Status = z.output<typeof Status>;

export const Live = record('Live', 'The process answers.', {
  status: field(z.literal('live'), 'Always `live`.'),
});
export const Ready = record('Ready', 'State is loaded and requests are taken.', {
  status: field(z.literal('ready'), 'Always `ready`.'),
});
export const Stopping = record('Stopping', 'It is about to stop.', {
  stopping: field(z.literal(true), 'Always true.'),
  pid: field(count, 'The process that ends.'),
  nextDue: field(
    nullableText,
    'When the next thing is due that a later start goes on with; null when there is none.',
    TIME,
  ),
});

export const TokenForm = request('TokenForm', 'What the dashboard asks for once.', {
  token: field(text, 'The control token.'),
});
