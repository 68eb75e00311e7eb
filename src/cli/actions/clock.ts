import type { ClockView } from '../../library/control-client.ts';
import { connect, type ServerChoice } from '../connect.ts';
import { type CommandResult, pairs } from '../output.ts';
import type { CommandContext } from '../program.ts';

/** `gateway-sim clock show` */
export async function show({ options }: CommandContext): Promise<CommandResult> {
  const server = await connect(options as ServerChoice);
  return shown(await server.ask(server.client.clock.$get()));
}

/** `gateway-sim clock advance` */
export function advance({ args: [duration = ''], options }: CommandContext): Promise<CommandResult> {
  return move(options, { advance: duration });
}

/** `gateway-sim clock freeze` */
export function freeze({ args: [time = 'now'], options }: CommandContext): Promise<CommandResult> {
  return move(options, { freeze: time });
}

/** `gateway-sim clock resume` */
export function resume({ options }: CommandContext): Promise<CommandResult> {
  return move(options, { resume: true });
}

type Move = { advance: string } | { freeze: string } | { resume: true };

async function move(options: CommandContext['options'], json: Move): Promise<CommandResult> {
  const server = await connect(options as ServerChoice);
  return shown(await server.ask(server.client.clock.$post({ json })));
}

function shown(clock: ClockView): CommandResult {
  return {
    json: clock,
    text: pairs([
      ['Time', `${clock.now}${clock.frozen ? '  (frozen)' : ''}`],
      ['Ahead', `${Math.round(clock.aheadMs / 1_000)} s of real time`],
      ['Next due', clock.nextDue ?? 'nothing waits'],
    ]),
  };
}
