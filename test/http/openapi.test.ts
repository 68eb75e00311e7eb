import { describe, expect, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import { startSim } from '../helpers/sim.ts';

interface Document {
  openapi: string;
  servers: { url: string }[];
  paths: Record<string, Record<string, { operationId: string; 'x-source': string; responses: object }>>;
  components: Record<string, Record<string, unknown>>;
}

/** Not part of any interface: preflights, and the way from / to the dashboard. */
const UNLISTED = ['OPTIONS', 'ALL'];

describe('the OpenAPI document', () => {
  it('lists exactly the routes that there are', async () => {
    const sim = await startSim();
    const { paths } = await sim.control<Document>('/openapi.json');
    const listed = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const there = createApp(sim.server.parts, () => {})
      .routes.filter(({ method, path }) => !UNLISTED.includes(method) && path !== '/')
      .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
    expect([...new Set(listed)].sort()).toEqual([...new Set(there)].sort());
  });

  it('has no reference that leads nowhere', async () => {
    const sim = await startSim();
    const document = await sim.control<Document>('/openapi.json');
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, to]) => to ?? '');
    expect(references.length).toBeGreaterThan(0);
    for (const reference of references) {
      let at: unknown = document;
      for (const part of reference.replace(/^#\//, '').split('/'))
        at = (at as Record<string, unknown>)?.[part];
      expect([reference, at]).toEqual([reference, expect.anything()]);
    }
  });

  it('names every operation once, says where it comes from, and what it answers', async () => {
    const sim = await startSim();
    const { paths } = await sim.control<Document>('/openapi.json');
    const operations = Object.values(paths).flatMap((item) => Object.values(item));
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    for (const operation of operations) {
      expect(['documented', 'observed', 'chosen']).toContain(operation['x-source']);
      expect(Object.keys(operation.responses).length).toBeGreaterThan(0);
    }
  });

  it('stands at the address that merchants see', async () => {
    const sim = await startSim({ publicUrl: 'https://pay.example.test' });
    const { openapi, servers } = await sim.control<Document>('/openapi.json');
    expect([openapi, servers]).toEqual(['3.1.0', [{ url: 'https://pay.example.test' }]]);
  });
});
