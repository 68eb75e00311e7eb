import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import { resolveOptions } from '../../src/options/resolve.ts';
import { startServer } from '../../src/server.ts';
import { Contract, type Document, type Schema } from '../helpers/contract.ts';
import { startSim } from '../helpers/sim.ts';

/** Not part of the API: preflights, and the redirect from / to the dashboard. */
const UNLISTED = ['OPTIONS', 'ALL'];
/** The dashboard's own pages and forms. Only pages with links from elsewhere are listed. */
const OWN = /^\w+ \/_sim\/ui\//;

const document = await documentOfAStart();

async function documentOfAStart(): Promise<Document> {
  const values = { port: 0, inMemory: true };
  const server = await startServer(resolveOptions([{ label: (name) => name, values }]), {
    report: () => {},
    warn: () => {},
  });
  const response = await fetch(`${server.url}/_sim/openapi.json`);
  const made = (await response.json()) as Document;
  await server.stop();
  return made;
}

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
);
const { schemas = {} } = document.components;

/** Yields every field of a schema and its unnamed objects, by path. */
function* fieldsOf(schema: Schema, path = ''): Generator<[string, Schema]> {
  for (const [name, field] of Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)) {
    yield [path + name, field];
    yield* fieldsOf(field, `${path}${name}.`);
  }
  const parts = [schema['items'], ...((schema['anyOf'] ?? schema['oneOf'] ?? []) as Schema[])];
  for (const part of parts) if (part) yield* fieldsOf(part as Schema, path);
}

describe('the OpenAPI document', () => {
  it('passes an independent validator', async () => {
    expect(await new Validator().validate({ ...document })).toMatchObject({ valid: true });
  });

  it("lists exactly the existing routes, except the dashboard's", async () => {
    const sim = await startSim();
    const { paths } = await sim.control<Document>('/openapi.json');
    const listed = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const existing = new Set(
      createApp(sim.server.parts)
        .routes.filter(({ method, path }) => !UNLISTED.includes(method) && path !== '/')
        .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`),
    );
    expect(listed.filter((operation) => !existing.has(operation))).toEqual([]);
    const expected = [...existing].filter((operation) => !OWN.test(operation) && !operation.endsWith('/*'));
    expect(expected.filter((operation) => !listed.includes(operation))).toEqual([]);
  });

  it('has every operation once, with its source and its responses', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(operations.length);
    const tags = document.tags.map(({ name }) => name);
    for (const { path, operation } of operations) {
      const source = operation['x-source'];
      expect([path, source]).toEqual([path, expect.stringMatching(/^(documented|observed|chosen)$/)]);
      expect(operation.description).toContain(`Source: ${source}.`);
      expect(tags).toContain(operation.tags[0]);
      expect(Object.keys(operation.responses)).toContainEqual(expect.stringMatching(/^[23]\d\d$/));
      // Every route can fail on a full disk.
      expect([path, Object.keys(operation.responses)]).toEqual([path, expect.arrayContaining(['507'])]);
      for (const { name, description } of operation.parameters ?? [])
        expect([path, name, description]).toEqual([path, name, expect.stringMatching(/\.$/)]);
    }
  });

  it('has a schema for every JSON answer and body', () => {
    for (const { method, path, operation } of operations) {
      const { requestBody, responses } = operation;
      const contents = [
        requestBody?.content ?? {},
        ...Object.values(responses).map((one) => one.content ?? {}),
      ];
      for (const content of contents) {
        const schema = content['application/json']?.schema;
        if (!schema || path === '/_sim/openapi.json') continue;
        expect([method, path, schema]).toEqual([method, path, expect.toSatisfy(isNamed)]);
      }
    }
  });

  it('does not require the optional body of a resend', () => {
    const body = (path: string) => document.paths[path]?.['post']?.requestBody?.required;
    expect(body('/_sim/ipns/{id}/resend')).toBe(false);
    expect(body('/_sim/ipns')).toBe(true);
  });

  it("describes every schema and field, and gives the source of the service's fields", () => {
    const silent: string[] = [];
    for (const [name, schema] of Object.entries(schemas)) {
      if (!schema['description']) silent.push(name);
      for (const [field, one] of fieldsOf(schema)) if (!one['description']) silent.push(`${name}.${field}`);
    }
    expect(silent).toEqual([]);
    for (const name of ['InitiateRequest', 'InitiateAnswer', 'Error', 'Ipn', 'VirtualCard', 'CardRequest']) {
      for (const [field, one] of fieldsOf(schemas[name] ?? {}))
        expect([name, field, one['x-source']]).toEqual([name, field, expect.any(String)]);
    }
  });

  it('lists the manifest lines for every mark', () => {
    const bare: string[] = [];
    const visit = (part: unknown, place: string) => {
      if (typeof part !== 'object' || part === null) return;
      const isMarked = 'x-source' in part && !('x-fidelity' in part);
      // Everything below /_sim is chosen.
      if (isMarked && !place.startsWith('/paths//_sim')) bare.push(place);
      for (const [name, inner] of Object.entries(part)) visit(inner, `${place}/${name}`);
    };
    visit(document, '');
    expect(bare).toEqual([]);
  });

  it('has the URL that merchants see', async () => {
    const sim = await startSim({ publicUrl: 'https://pay.example.test' });
    const { openapi, servers } = await sim.control<Document>('/openapi.json');
    expect([openapi, servers]).toEqual(['3.1.0', [{ url: 'https://pay.example.test' }]]);
  });
});

describe('the examples of the document', () => {
  let contract: Contract;
  beforeAll(() => {
    contract = new Contract(document);
  });

  const examples = operations.flatMap(({ method, path, operation }) => {
    const { requestBody, responses } = operation;
    const places = [
      { at: ['requestBody'], content: requestBody?.content ?? {} },
      ...Object.entries(responses).map(([status, { content = {} }]) => ({
        at: ['responses', status],
        content,
      })),
    ];
    return places.flatMap(({ at, content }) =>
      Object.entries(content).flatMap(([type, { examples: named = {} }]) =>
        Object.entries(named).map(([name, { value }]) => ({
          title: `${method.toUpperCase()} ${path} ${at.at(-1)} ${type}: ${name}`,
          place: ['paths', path, method, ...at, 'content', type, 'schema'],
          value,
        })),
      ),
    );
  });

  it('exist for every request body and JSON response of the service', () => {
    const titles = examples.map(({ title }) => title).join('\n');
    for (const { method, path, operation } of operations) {
      if (!/^Service: (payments|cards)$/.test(operation.tags[0] ?? '')) continue;
      expect(titles).toContain(`${method.toUpperCase()} ${path} 200 application/json`);
      if (operation.requestBody) expect(titles).toContain(`${method.toUpperCase()} ${path} requestBody`);
    }
  });

  it.each(examples)('match their schema: $title', ({ place, value }) => {
    expect(contract.problems(value, ...place)).toEqual([]);
  });

  it('are accepted by the emulator', async () => {
    const sim = await startSim({ publicKey: 'pub_sim_0123456789abcdefghijklmnopqrstuv' });
    for (const { method, path, operation } of operations) {
      const samples = operation.requestBody?.content['application/json']?.examples ?? {};
      // An example with an unknown record may get a 404, but never a field error.
      for (const [name, { value }] of Object.entries(samples)) {
        const answer = await fetch(sim.url + path.replace(/\{\w+\}/, 'none'), {
          method: method.toUpperCase(),
          headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${sim.secretKey}` },
          body: JSON.stringify(value),
        });
        const text = await answer.text();
        expect([path, name, text, [200, 201, 202, 404].includes(answer.status)]).toEqual([
          path,
          name,
          text,
          true,
        ]);
        expect(text).not.toContain('"error":"true","message":"Invalid');
      }
    }
  });
});

function isNamed(schema: Schema): boolean {
  const parts = (schema['anyOf'] as Schema[] | undefined) ?? [schema];
  return parts.every((part) => typeof part['$ref'] === 'string');
}
