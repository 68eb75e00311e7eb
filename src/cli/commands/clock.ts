import type { ClockView } from '../../client.ts';
import { connect, type ServerChoice } from '../connect.ts';
import { pairs, type Shown } from '../output.ts';
import type { Call } from '../program.ts';

/** `gateway-sim clock show` */
export async function show({ options }: Call): Promise<Shown> {
  const server = await connect(options as ServerChoice);
  return shown(await server.ask(server.client.clock.$get()));
}

/** `gateway-sim clock advance` */
export function advance({ args: [duration = ''], options }: Call): Promise<Shown> {
  return move(options, { advance: duration });
}

/** `gateway-sim clock freeze` */
export function freeze({ args: [time = 'now'], options }: Call): Promise<Shown> {
  return move(options, { freeze: time });
}

/** `gateway-sim clock resume` */
export function resume({ options }: Call): Promise<Shown> {
  return move(options, { resume: true });
}

type Move = { advance: string } | { freeze: string } | { resume: true };

async function move(options: Call['options'], json: Move): Promise<Shown> {
  const server = await connect(options as ServerChoice);
  return shown(await server.ask(server.client.clock.$post({ json })));
}

function shown(clock: ClockView): Shown {
  return {
    json: clock,
    text: pairs([
      ['Time', `${clock.now}${clock.frozen ? '  (frozen)' : ''}`],
      ['Ahead', `${Math.round(clock.aheadMs / 1_000)} s of real time`],
      ['Next due', clock.nextDue ?? 'nothing waits'],
    ]),
  };
}
