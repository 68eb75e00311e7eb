// The rate of initiate with validation and journal, compared with a bare server that reads and sends the same bytes.
import { initiateRequest } from './load.mjs';
import { together, withBare, withFreshSim } from './processes.mjs';
import { emptied, takeTurns } from './round.mjs';
import { baseline, fact, measured, median, percent, perSecond } from './rows.mjs';

/** Each kind of body, and its target. */
const KINDS = { form: 0.4, multipart: 0.3 };

export function initiate() {
  return together([withBare, withFreshSim, withFreshSim], async ([bare, ...sims]) => {
    const request = initiateRequest({ ...bare, publicKey: sims[0].publicKey });
    const players = { bare: { server: bare, request } };
    for (const [index, kind] of Object.keys(KINDS).entries()) {
      const server = sims[index];
      players[kind] = { server, request: initiateRequest({ ...server, kind }), prepare: emptied };
    }
    const turns = await takeTurns(players);
    const row = ([kind, atLeast]) =>
      measured(
        `initiate ${kind}, relative to bare node:http`,
        turns.ratios(kind, 'bare', 'rate'),
        { atLeast },
        `${perSecond(turns.of(kind, 'rate'))}; by CPU time ${median(turns.ratios('bare', kind, 'processorUs')).toFixed(2)}`,
      );
    const client = `the client used ${percent(turns.of('bare', 'clientShare'))} of a core`;
    return [
      baseline('bare node:http', turns.all('bare', 'rate'), '/s', client),
      ...Object.entries(KINDS).map(row),
      ...['bare', ...Object.keys(KINDS)].map((name) =>
        fact(`CPU time of a request, ${name}`, Math.round(turns.of(name, 'processorUs')), ' µs'),
      ),
    ];
  });
}
