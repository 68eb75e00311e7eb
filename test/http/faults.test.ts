import { it } from 'vitest';
import { startSim } from '../helpers/sim.ts';

it('x', async () => {
  const sim = await startSim();
  const api = (method: string, path: string, body?: unknown) =>
    fetch(`${sim.url}/_sim${path}`, {
      method,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    }).then(async (r) => [r.status, await r.text()]);
  for (const body of [
    { route: 'initiate', status: 503, times: 2 },
    { route: 'inititae', status: 503 },
    { route: 'initiate' },
    { route: 'initiate', staus: 3 },
    { route: 'initiate', status: '503' },
    { route: 'initiate', status: 99 },
    { route: 'initiate', drop: true, status: 500 },
    { route: 'cards', delay: '2s' },
    { route: 'ipn', latency: '5s..1s' },
    { route: '/_sim/x', drop: true },
    {},
    { route: 'ipn', drop: false },
  ])
    console.log(JSON.stringify(body), ...(await api('POST', '/faults', body)));
  console.log(
    ...(await api('PUT', '/faults', {
      faults: [{ route: 'ipn', drop: true }, { route: 'initiate', staus: 3 }, { route: 'nix' }],
    })),
  );
  console.log(...(await api('GET', '/faults')));
  for (const rule of [
    { route: 'initiate', status: 503, times: 2 },
    { route: 'initiate', retryAfter: '90s' },
    { route: 'initiate', drop: true },
    { route: 'initiate', truncate: true },
    { route: 'initiate', malformed: true },
    { route: 'initiate', latency: '50ms..100ms' },
  ]) {
    await api('PUT', '/faults', { faults: [rule] });
    const r = await fetch(`${sim.url}/payment/initiate`, {
      method: 'POST',
      body: new URLSearchParams({ a: 'b' }),
    })
      .then(async (r) => [r.status, [...r.headers], await r.text()])
      .catch((e) => [e, e.cause]);
    console.log(JSON.stringify(rule), r);
  }
  console.log(JSON.stringify(await sim.control('/requests'), null, 1).slice(0, 3000));
  for (const body of [
    { advance: '2h' },
    { advance: '-2h' },
    { advance: '2h', resume: true },
    {},
    { freeze: '2020-01-01' },
    { freeze: '2027-02-30' },
    { freeze: '2027-02-20T10:00:00' },
    { freeze: '2027-02-20T10:00:00+02:00' },
    { advance: '999999999h' },
    { resume: true },
    { resume: false },
    { freeze: 'now' },
    { advnce: '2h' },
  ])
    console.log(JSON.stringify(body), ...(await api('POST', '/clock', body)));
  console.log(await sim.control('/clock'));
});
