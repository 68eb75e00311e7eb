import { Hono } from 'hono';
import { expect, it, vi } from 'vitest';
import type { AppEnvironment } from '../../src/http/environment.ts';
import { openApiDocument } from '../../src/http/openapi.ts';
import { mountDashboard } from '../../src/http/pages/dashboard/routes.tsx';
import { startSim } from '../helpers/sim.ts';

it('the reference page is rendered once and kept until what it says of this emulator changes', async () => {
  const { parts } = (await startSim()).server;
  const document = vi.fn(async () => openApiDocument([], parts));
  const app = new Hono<AppEnvironment>();
  mountDashboard(app, parts, document);
  const view = async () => {
    const response = await app.request('/_sim/ui/reference');
    return (await response.text()).replace(/(nonce|data-now)="[^"]*"|nonce-[^']*/g, '');
  };
  const first = await view();
  expect(first).toContain('<h1>API reference</h1>');
  expect(await view()).toBe(first);
  expect(document).toHaveBeenCalledTimes(1);
  await parts.merchants.replaceKeys(parts.merchants.default.id);
  await view();
  expect(document).toHaveBeenCalledTimes(2);
});

it('a reference page that failed is tried again', async () => {
  const { parts } = (await startSim()).server;
  const document = vi.fn(async () => openApiDocument([], parts));
  document.mockRejectedValueOnce(new Error('no document'));
  const app = new Hono<AppEnvironment>();
  mountDashboard(app, parts, document);
  app.onError((_, c) => c.text('failed', 500));
  expect((await app.request('/_sim/ui/reference')).status).toBe(500);
  expect((await app.request('/_sim/ui/reference')).status).toBe(200);
});
