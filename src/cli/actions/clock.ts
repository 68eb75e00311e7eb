import type { Clock } from '../../contract/clock.ts';
import type { CallOf } from '../command.ts';
import type { COMMANDS } from '../commands/clock.ts';
import type { Server } from '../connect.ts';
import { pairs } from '../layout.ts';
import type { CommandResult } from '../output.ts';

type Call<Name extends keyof typeof COMMANDS> = CallOf<(typeof COMMANDS)[Name]>;
type Move = { advance: string } | { freeze: string } | { resume: true };

export async function show({ connect }: Call<'show'>) {
  const server = await connect();
  return shown(await server.call('GET /clock'));
}

export async function advance({ args: [duration], connect }: Call<'advance'>) {
  return move(await connect(), { advance: duration });
}

export async function freeze({ args: [time = 'now'], connect }: Call<'freeze'>) {
  return move(await connect(), { freeze: time });
}

export async function resume({ connect }: Call<'resume'>) {
  return move(await connect(), { resume: true });
}

async function move(server: Server, json: Move): Promise<CommandResult> {
  return shown(await server.call('POST /clock', { json }));
}

function shown(clock: Clock): CommandResult {
  const text = pairs({
    Time: `${clock.now}${clock.frozen ? '  (frozen)' : ''}`,
    Ahead: `${Math.round(clock.aheadMs / 1_000)} s of real time`,
    'Next due': clock.nextDue ?? 'nothing scheduled',
  });
  return { json: clock, text };
}
