import { connect, type ServerChoice } from '../connect.ts';
import { type CommandResult, table } from '../output.ts';
import type { CommandContext } from '../program.ts';

/** Options of `faults set` that hold numbers; what is none goes on as text, and the emulator says so. */
const NUMBERS = ['status', 'times', 'probability'];
const OTHERS = [
  'identifier',
  'retryAfter',
  'latency',
  'drop',
  'truncate',
  'malformed',
  'duplicate',
  'delay',
  'reorder',
  'corruptSignature',
];

/** `gateway-sim faults list` */
export async function list({ options }: CommandContext): Promise<CommandResult> {
  const server = await connect(options as ServerChoice);
  const page = await server.ask(server.client.faults.$get());
  const rows = page.data.map(({ route, summary, used, spent }) => [
    route,
    summary.slice(route.length + 2),
    String(used),
    spent ? 'spent' : 'ON',
  ]);
  return {
    json: page,
    text: table(['Route', 'Fault', 'Used', 'State'], rows),
    notices: page.data.length
      ? []
      : ['No faults. Set one with: gateway-sim faults set initiate --status 503 --times 2'],
  };
}

/** `gateway-sim faults set`: one rule, in the place of the one on the same route and identifiers. */
export async function set({ args: [route = ''], options }: CommandContext): Promise<CommandResult> {
  const server = await connect(options as ServerChoice);
  const rule: Record<string, unknown> = { route };
  for (const name of NUMBERS) {
    const given = options[name];
    if (given !== undefined) rule[name] = /^\d+(\.\d+)?$/.test(String(given)) ? Number(given) : given;
  }
  for (const name of OTHERS) if (options[name] !== undefined) rule[name] = options[name];
  type Rule = Parameters<typeof server.client.faults.$post>[0]['json'];
  const fault = await server.ask(server.client.faults.$post({ json: rule as Rule }));
  return {
    json: fault,
    text: `FAULT ON  ${fault.summary}`,
    notices: ['It is gone when the emulator stops, or with: gateway-sim faults clear'],
  };
}

/** `gateway-sim faults clear` */
export async function clear({ args: [route], options }: CommandContext): Promise<CommandResult> {
  const server = await connect(options as ServerChoice);
  const query = route === undefined ? {} : { route };
  const answer = await server.ask(server.client.faults.$delete({ query }));
  const left = answer.data.length;
  return { json: answer, text: `${answer.cleared} cleared${left ? `, ${left} left` : ''}` };
}
