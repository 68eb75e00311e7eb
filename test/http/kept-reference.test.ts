import { Hono } from 'hono';
import { expect, it } from 'vitest';
import type { AppEnvironment } from '../../src/http/environment.ts';
import { openApiDocument } from '../../src/http/openapi.ts';
import { mountDashboard } from '../../src/http/pages/dashboard/routes.tsx';
import { pageOf } from '../helpers/forms.ts';
import { startSim } from '../helpers/sim.ts';

it('the reference page has the keys of now', async () => {
  const sim = await startSim();
  const page = () => pageOf(sim, '/_sim/ui/reference');
  expect(await page()).toContain(sim.publicKey);
  const { merchants } = sim.server.parts;
  const { publicKey } = await merchants.replaceKeys(merchants.default.id);
  const after = await page();
  expect([after.includes(publicKey), after.includes(sim.publicKey)]).toEqual([true, false]);
});

it('a reference page that failed is tried again', async () => {
  const { parts } = (await startSim()).server;
  let isBroken = true;
  const app = new Hono<AppEnvironment>();
  mountDashboard(app, parts, async () => {
    if (isBroken) throw new Error('no document');
    return openApiDocument([], parts);
  });
  app.onError((_, c) => c.text('failed', 500));
  expect((await app.request('/_sim/ui/reference')).status).toBe(500);
  isBroken = false;
  expect((await app.request('/_sim/ui/reference')).status).toBe(200);
});
