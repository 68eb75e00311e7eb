import * as z from 'zod/mini';
import { Clock } from './clock.ts';
import { Fault } from './fault.ts';
import { count, field, LINK, nullableText, record, TIME, text, time } from './field.ts';
import { PROFILE_NAMES } from './profiles.ts';
import { StatusCounts } from './state.ts';

const Fidelity = record('Fidelity', 'The behaviour that is emulated.', {
  profile: field(z.enum(PROFILE_NAMES), 'The active profile.'),
  changes: field(z.array(text), 'Choices that override it, such as `siteLogo optional`.'),
});

export const ShopDatabase = record('ShopDatabase', "The shop's database, which `start --db` reads.", {
  tables: field(count, 'The number of tables that are read.'),
  lastMs: field(z.nullable(count), 'How long the last reading took, in milliseconds; null before the first.'),
  problem: field(nullableText, 'Why the last reading failed; null if it did not.'),
});
export type ShopDatabase = z.output<typeof ShopDatabase>;

export const Status = record('Status', 'The status of a running emulator.', {
  version: field(text, 'Version of gateway-sim.'),
  mode: field(z.enum(['in-memory', 'on-disk']), 'Where the state is stored.'),
  url: field(text, 'Base address of checkout URLs.', LINK),
  dataDir: field(nullableText, 'State folder; null in memory.'),
  tlsCa: field(nullableText, 'Certificate file for clients to trust; null for plain http.'),
  pid: field(count, 'Process id.'),
  startedAt: time('Start time, in real time.'),
  clock: field(Clock, "The emulator's clock."),
  faults: field(z.array(Fault), 'Fault rules, in order of precedence.'),
  notices: field(z.array(text), 'What the terminal said about the stored state and the certificate.'),
  database: field(z.nullable(ShopDatabase), "The shop's database; null without `start --db`."),
  counts: field(StatusCounts, 'Number of records.'),
  fidelity: field(Fidelity, 'Its profile, and what differs from it.'),
  options: field(
    z.record(text, z.unknown()),
    'Effective options of `start`, with secrets masked. Options without a value or default are omitted.',
  ),
});
export type Status = z.output<typeof Status>;

export const Live = record('Live', 'The process responds.', {
  status: field(z.literal('live'), 'Always `live`.'),
});
export const Ready = record('Ready', 'The state is loaded and requests are accepted.', {
  status: field(z.literal('ready'), 'Always `ready`.'),
});
export const Stopping = record('Stopping', 'The emulator is stopping.', {
  stopping: field(z.literal(true), 'Always true.'),
  pid: field(count, 'The process that stops.'),
  nextDue: field(
    nullableText,
    'Time of the next scheduled event, which runs after the next start; null if none.',
    TIME,
  ),
});
