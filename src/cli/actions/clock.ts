import type { Clock } from '../../contract/clock.ts';
import type { ContextOf } from '../command.ts';
import type { COMMANDS } from '../commands/clock.ts';
import type { Server } from '../connect.ts';
import { pairs } from '../layout.ts';
import type { CommandResult } from '../output.ts';

type Context<Name extends keyof typeof COMMANDS> = ContextOf<(typeof COMMANDS)[Name]>;
type Move = { advance: string } | { freeze: string } | { resume: true };

export async function show({ connect }: Context<'show'>) {
  const server = await connect();
  return shown(await server.call('GET /clock'));
}

export async function advance({ args: [duration], connect }: Context<'advance'>) {
  return move(await connect(), { advance: duration });
}

export async function freeze({ args: [time = 'now'], connect }: Context<'freeze'>) {
  return move(await connect(), { freeze: time });
}

export async function resume({ connect }: Context<'resume'>) {
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
