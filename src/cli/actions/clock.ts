import type { Clock } from '../../contract/clock.ts';
import type { Actions } from '../commands/clock.ts';
import { pairs } from '../layout.ts';
import type { CommandResult } from '../output.ts';

export const show: Actions['show'] = async ({ call }) => shown(await call('GET /clock'));

export const advance: Actions['advance'] = async ({ args: [duration], call }) =>
  shown(await call('POST /clock', { json: { advance: duration } }));

export const freeze: Actions['freeze'] = async ({ args: [time = 'now'], call }) =>
  shown(await call('POST /clock', { json: { freeze: time } }));

export const resume: Actions['resume'] = async ({ call }) =>
  shown(await call('POST /clock', { json: { resume: true } }));

function shown(clock: Clock): CommandResult {
  const text = pairs({
    Time: `${clock.now}${clock.frozen ? '  (frozen)' : ''}`,
    Ahead: `${Math.round(clock.aheadMs / 1_000)} s of real time`,
    'Next due': clock.nextDue ?? 'nothing scheduled',
  });
  return { json: clock, text };
}
