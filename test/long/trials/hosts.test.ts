import { request } from 'node:http';
import { startSim } from '../../helpers/sim.ts';
import { trial } from '../trial.ts';

trial(
  'a Host that is not ours',
  { promise: 'no page of another origin reaches the control API', short: 20, least: 200, share: 1 },
  async (budget) => {
    const { url } = await startSim();
    await budget.repeat(async () => {
      const host = `a${budget.below(1e6)}.example`;
      const status = await new Promise<number>((resolve, reject) => {
        request(`${url}/_sim/status`, { headers: { host } }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        })
          .on('error', reject)
          .end();
      });
      budget.requests();
      if (status < 400) budget.fail('outside', `Host: ${host} got ${status}`);
      if (status >= 500) budget.fail('5xx', `Host: ${host} got ${status}`);
    });
  },
);
