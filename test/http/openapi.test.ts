import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import type { StartOptions } from '../../src/options/start-options.ts';
import { type Call, Contract, type Document, type Schema } from '../helpers/contract.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { CARD, fields } from '../helpers/records.ts';
import { ask, idOf, ORDER, openSim, type Sim, startSim } from '../helpers/sim.ts';

/** Not part of the API: preflights, and the redirect from / to the dashboard. */
const UNLISTED = ['OPTIONS', 'ALL'];
/** The dashboard's own pages and forms. Only pages with links from elsewhere are listed. */
const OWN = /^\w+ \/_sim(\/ui\/|$)/;

const opened = await openSim();
const document = await opened.control<Document>('/openapi.json');
await opened[Symbol.asyncDispose]();

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

  it('has nothing that generators of types misread: no default of an optional field, no closed list of values', () => {
    for (const [name, schema] of Object.entries(schemas)) {
      for (const [path, field] of fieldsOf(schema))
        expect([name, path, field['default']]).toEqual([name, path, undefined]);
    }
    expect(JSON.stringify(schemas)).not.toContain('"items":false');
    expect(schemas['InitiateRequest']).toMatchObject({
      properties: { checkout_theme: { description: expect.stringContaining('Default: light.') } },
    });
  });

  it("lists exactly the existing routes, except the dashboard's", async () => {
    const sim = await startSim();
    const { paths } = await sim.control<Document>('/openapi.json');
    const listed = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const app = createApp(sim.server.parts);
    await app.request('/_sim/livez');
    const existing = new Set(
      app.routes
        .filter(({ method, path }) => !UNLISTED.includes(method) && path !== '/')
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
    const { content = {} } = operation.requestBody ?? {};
    return Object.entries(content).flatMap(([type, { examples: named = {} }]) =>
      Object.values(named).map(({ value }) => ({
        title: `${method.toUpperCase()} ${path} ${type}`,
        place: ['paths', path, method, 'requestBody', 'content', type, 'schema'],
        value,
      })),
    );
  });

  it('exist for every request body of the service', () => {
    const titles = examples.map(({ title }) => title).join('\n');
    for (const { method, path, operation } of operations) {
      if (!/^Service: (payments|cards)$/.test(operation.tags[0] ?? '') || !operation.requestBody) continue;
      expect(titles).toContain(`${method.toUpperCase()} ${path} application/json`);
    }
  });

  it('have an IPN', () => {
    const { requestBody } = document.webhooks.ipn.post;
    const place = ['webhooks', 'ipn', 'post', 'requestBody', 'content', 'application/json'];
    const { value } = requestBody?.content['application/json']?.examples?.['example'] ?? {};
    expect(value).toMatchObject({ status: 'success' });
    expect(contract.problems(value, ...place, 'schema')).toEqual([]);
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

const CHECKOUT = { live: '/initiate/payment/checkout', sandbox: '/sandbox/initiate/payment/checkout' };
const INITIATE = { live: '/payment/initiate', sandbox: '/sandbox/payment/initiate' };
type Mode = keyof typeof INITIATE;

interface Run {
  sim: Sim;
  contract: Contract;
  document: Document;
  /** Initiates a payment. @returns its id */
  initiate: (mode: Mode, changes?: Record<string, string>) => Promise<string>;
  call: <Body>(operation: string, more?: Call) => Promise<Body>;
}

async function documentOf({ url, server }: Sim): Promise<Document> {
  const headers = { Authorization: `Bearer ${server.controlToken}` };
  return (await fetch(`${url}/_sim/openapi.json`, { headers })).json() as Promise<Document>;
}

/** @param known default: made from the document of this emulator. The schemas take long to compile. */
async function run(options: StartOptions = {}, known?: Contract): Promise<Run> {
  const receiver = await startReceiver([{ body: 'OK' }]);
  const sim = await startSim(options);
  const document = await documentOf(sim);
  const contract = known ?? new Contract(document);
  const call = <Body>(operation: string, more?: Call) => contract.call<Body>(sim.url, operation, more);
  const initiate = async (mode: Mode, changes: Record<string, string> = {}) => {
    const ipn_url = `${receiver.url}/ipn`;
    const form = { public_key: sim.publicKey, ...ORDER, ipn_url, ...changes };
    const { url } = await call<{ url: string }>(`POST ${INITIATE[mode]}`, { form });
    return idOf(url);
  };
  return { sim, contract, document, initiate, call };
}

async function codeOf({ call }: Run, mode: Mode): Promise<string> {
  const { data } = await call<{ data: { code: string }[] }>('GET /_sim/inbox');
  return mode === 'sandbox' ? '222666' : (data[0]?.code ?? '');
}

async function enter({ call }: Run, mode: Mode, query: Record<string, string>): Promise<void> {
  const email = mode === 'sandbox' ? 'test_mode@mail.com' : 'wallet@example.com';
  await call(`POST ${CHECKOUT[mode]}/email`, { query, status: 303, form: { email } });
}

async function useCheckout(used: Run, mode: Mode): Promise<void> {
  const { initiate, call } = used;
  const path = CHECKOUT[mode];
  const id = await initiate(mode);
  const query = { payment_id: id };
  const see = { query, status: 303 };
  await call(`GET ${path}`, { query });
  await call(`POST ${path}`, { query });
  await call(`POST ${path}/email`, { query, status: 422, form: { email: 'nobody' } });
  await enter(used, mode, query);
  await call(`POST ${path}/back`, see);
  await enter(used, mode, query);
  await call(`POST ${path}/resend`, see);
  await call(`POST ${path}/code`, { query, status: 422, form: { code: '000000' } });
  await call(`POST ${path}/code`, { ...see, form: { code: await codeOf(used, mode) } });
  await call(`GET ${path}`, { query, status: 409 });
  await call(`GET ${path}`, { query: { payment_id: 'none' }, status: 404 });
  const foreign = { Origin: 'https://elsewhere.example' };
  await call(`POST ${path}/cancel`, { query, status: 403, headers: foreign });

  const canceled = { payment_id: await initiate(mode) };
  await call(`POST ${path}/cancel`, { query: canceled, status: 303 });
  const settled = { payment_id: await initiate(mode) };
  const stays = { outcome: 'approve', delivery: 'ipn-only' };
  await call(`POST ${path}/panel`, { query: settled, form: stays });
  const aborted = { payment_id: await initiate(mode) };
  await call(`POST ${path}/panel`, { query: aborted, status: 303, form: { outcome: 'cancel' } });
  const expired = { payment_id: await initiate(mode) };
  await call(`POST ${path}/panel`, { query: expired, form: { outcome: 'expire' } });
  await call(`GET ${path}`, { query: expired, status: 410 });
}

async function useCards({ sim, call }: Run): Promise<void> {
  const headers = { Authorization: `Bearer ${sim.secretKey}` };
  const { data: card } = await call<{ data: { id: string } }>('POST /api/cards/save', {
    headers,
    json: CARD,
  });
  const params = { id: card.id };
  const move = { params, status: 201 };
  await call('POST /_sim/cards/{id}/transactions', {
    ...move,
    json: { type: 'charge', amount: '5', details: 'Tea' },
  });
  await call('POST /_sim/cards/{id}/transactions', { ...move, json: { type: 'fund', amount: '5.25' } });
  const tooMuch = { type: 'charge', amount: '9999' };
  await call('POST /_sim/cards/{id}/transactions', { params, status: 409, json: tooMuch });
  await call('GET /api/cards', { headers, query: { page: '1' } });
  await call('GET /api/cards/{id}', { headers, params });
  await call('GET /_sim/cards');
  await call('GET /_sim/cards/{id}', { params });
  await call('PUT /api/cards/toggle', { headers, json: { card_id: card.id, active: false } });
  await call('PUT /api/cards/cancel/{id}', { headers, params });

  await call('PUT /api/cards/cancel/{id}', { headers, params, status: 409 });
  await call('PUT /api/cards/toggle', { headers, status: 409, json: { card_id: card.id, active: true } });
  await call('GET /api/cards', { status: 401 });
  await call('GET /api/cards', { headers, status: 422, query: { page: 'x' } });
  await call('GET /api/cards/{id}', { headers, status: 404, params: { id: 'none' } });
  await call('GET /api/cards/{id}', { headers, status: 405, params: { id: 'save' } });
  await call('POST /api/cards/save', { headers, status: 422, json: {} });
  await call('POST /api/cards/save', { headers, status: 415, form: { title: 'x' } });
  await call('GET /_sim/cards/{id}', { status: 404, params: { id: 'none' } });
}

async function usePayments({ initiate, call }: Run): Promise<void> {
  await initiate('sandbox', { identifier: 'a/b c', amount: '1' });
  const params = { ref: 'a/b c' };
  const settled = await call<{ delivery: { id: string } }>('POST /_sim/payments/{ref}/settle', {
    params,
    json: { outcome: 'approve' },
  });
  await call('GET /_sim/payments', { query: { status: 'succeeded', limit: '5' } });
  await call('GET /_sim/payments/{ref}', { params });
  await call('POST /_sim/payments/{ref}/settle', { params, status: 409, json: { outcome: 'approve' } });
  await call('POST /_sim/payments/{ref}/settle', { params, status: 422, json: { outcom: 'approve' } });
  await call('GET /_sim/payments/{ref}', { status: 404, params: { ref: 'none' } });
  await call('GET /_sim/payments', { status: 422, query: { limit: '0' } });
  await initiate('live', { identifier: 'unheard', ipn_url: 'http://203.0.113.9/ipn' });
  await call('POST /_sim/payments/{ref}/settle', {
    params: { ref: 'unheard' },
    json: { outcome: 'approve', awaitDelivery: true, visit: true },
  });
  await initiate('live', { identifier: 'unseen' });
  const quiet = { outcome: 'fail', delivery: 'redirect-only' };
  await call('POST /_sim/payments/{ref}/settle', { params: { ref: 'unseen' }, json: quiet });

  const id = settled.delivery.id;
  await call('GET /_sim/ipns', { query: { payment: 'a/b c' } });
  await call('GET /_sim/ipns/{id}', { params: { id } });
  await call('POST /_sim/ipns/{id}/resend', { params: { id } });
  await call('POST /_sim/ipns/{id}/diagnose', { params: { id } });
  await call('POST /_sim/ipns', { status: 201, json: { payment: 'a/b c', tamper: 'case' } });
  await call('POST /_sim/ipns', { status: 201, json: { payment: 'a/b c', times: 2 } });
  await call('POST /_sim/ipns', { status: 403, json: { to: 'http://203.0.113.9/ipn' } });
  await call('POST /_sim/ipns', { status: 422, json: { tamper: 'everything' } });
  await call('GET /_sim/ipns', { status: 404, query: { payment: 'none' } });
}

async function useSimulator({ initiate, call, contract }: Run): Promise<void> {
  await call('GET /_sim/livez');
  await call('GET /_sim/readyz');
  await call('GET /_sim/openapi.json');
  const { id } = await call<{ id: string }>('POST /_sim/merchants', { status: 201, json: { name: 'Shop' } });
  await call('POST /_sim/merchants/{id}/keys', { params: { id } });
  await call('POST /_sim/merchants', { status: 422, json: { name: 'Shop' } });
  await call('GET /_sim/merchants');
  const { data } = await call<{ data: { id: string }[] }>('GET /_sim/wallets');
  const wallet = { params: { id: data[0]?.id ?? '' } };
  await call('POST /_sim/wallets/{id}/fund', { ...wallet, json: { amount: '10' } });
  await call('POST /_sim/wallets/{id}/fund', { ...wallet, status: 422, json: { amount: '-1' } });
  await call('POST /_sim/clock', { json: { advance: '2h' } });
  await call('GET /_sim/clock');
  await call('POST /_sim/clock', { status: 422, json: { advance: '1h', resume: true } });
  await call('POST /_sim/faults', { status: 201, json: { route: 'initiate', status: 503, times: 1 } });
  await call(`POST ${INITIATE.sandbox}`, { status: 503, form: {} });
  await call('GET /_sim/faults');
  await call('GET /_sim/status');
  await call('PUT /_sim/faults', { json: { faults: [{ route: 'ipn', delay: '1s', probability: 0.5 }] } });
  await call('POST /_sim/faults', { status: 422, json: { route: 'initiat' } });
  await call('DELETE /_sim/faults');
  await call('GET /_sim/requests', { query: { limit: '1000' } });

  const events = await call<string>('GET /_sim/events', { query: { since: '0', follow: 'false' } });
  const lines = events.match(/^data: .*$/gm) ?? [];
  const kinds = new Set<string>();
  for (const line of lines) {
    const activity = JSON.parse(line.slice(6)) as { type: string };
    kinds.add(activity.type);
    expect([line, contract.problems(activity, 'components', 'schemas', 'SimEvent')]).toEqual([line, []]);
  }
  expect([...kinds].sort().join()).toBe('cardTransaction,delivery,message,notice,payment,request');

  const state = await call<{ version: number }>('GET /_sim/snapshot');
  await call('PUT /_sim/snapshot', { json: state });
  await call('PUT /_sim/snapshot', { status: 422, json: { ...state, version: state.version + 1 } });
  await initiate('sandbox');
  await call('POST /_sim/reset');
  await call('GET /_sim/status', { status: 403, headers: { Origin: 'https://elsewhere.example' } });
}

async function useInitiate({ sim, call }: Run): Promise<void> {
  for (const mode of ['live', 'sandbox'] as const) {
    await call(`POST ${INITIATE[mode]}`, { form: {} });
    await call(`POST ${INITIATE[mode]}`, { json: { public_key: sim.publicKey } });
    await call(`POST ${INITIATE[mode]}`, { status: 415, headers: { 'Content-Type': 'text/plain' } });
    await call(`POST ${INITIATE[mode]}`, { status: 413, form: { details: 'x'.repeat(2 ** 20) } });
    await call(`POST ${INITIATE[mode]}`, { status: 400, headers: { 'Content-Type': 'application/json' } });
  }
}

/** Covers responses that need other start options. */
async function useOthers({ contract }: Run): Promise<void> {
  const staying = await run({ delivery: 'ipn-only' }, contract);
  for (const mode of ['sandbox', 'live'] as const) {
    const query = { payment_id: await staying.initiate(mode) };
    await staying.call(`POST ${CHECKOUT[mode]}/cancel`, { query });
    const paid = { payment_id: await staying.initiate(mode) };
    await enter(staying, mode, paid);
    await staying.call(`POST ${CHECKOUT[mode]}/code`, {
      query: paid,
      form: { code: await codeOf(staying, mode) },
    });
  }

  const hasty = await run({ auto: 'approve', autoDelay: '0ms', errorStatus: 'http' }, contract);
  for (const mode of ['sandbox', 'live'] as const) {
    const query = { payment_id: await hasty.initiate(mode) };
    await hasty.call('POST /_sim/clock', { json: { advance: '1s' } });
    await hasty.call(`GET ${CHECKOUT[mode]}`, { query, status: 303 });
    await hasty.call(`POST ${CHECKOUT[mode]}`, { query, status: 303 });
    await hasty.call(`POST ${INITIATE[mode]}`, { status: 422, form: {} });
    await expect(hasty.initiate(mode, { public_key: 'wrong' })).rejects.toThrow('401');
  }
  await hasty.call('GET /_sim/payments');

  const guarded = await run({ host: '0.0.0.0', controlToken: 'a-token-of-ours' }, contract);
  const wrong = { Authorization: 'Bearer another' };
  await guarded.call('GET /_sim/status', { status: 401, headers: wrong });
  await guarded.call('GET /_sim/openapi.json', { status: 401, headers: wrong });
}

describe('the OpenAPI document', () => {
  it('describes every response of every operation, including errors', async () => {
    const one = await run();
    await useInitiate(one);
    await useCheckout(one, 'sandbox');
    await useCheckout(one, 'live');
    await useCards(one);
    await usePayments(one);
    await useSimulator(one);
    await useOthers(one);
    await one.call('POST /_sim/shutdown');
    const successes = Object.entries(one.document.paths).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, { responses }]) =>
        Object.keys(responses)
          .filter((status) => /^[23]/.test(status))
          .map((status) => `${method.toUpperCase()} ${path} ${status}`),
      ),
    );
    expect(successes.filter((success) => !one.contract.seen.has(success)).sort()).toEqual([]);
  });

  it('describes the body and headers of an IPN', async () => {
    const { contract, document } = await run();
    const receiver = await startReceiver([{}]);
    const sim = await startSim({ ipnFormat: 'json', forwardIpn: `${receiver.url}/here` });
    await sim.initiate(fields({ public_key: sim.publicKey }) as Record<string, string>);
    await ask(sim, 'POST', '/payments/order-1/settle', { outcome: 'approve' });
    const { body, headers } = await receiver.request(1);
    expect(contract.problems(JSON.parse(body), 'components', 'schemas', 'Ipn')).toEqual([]);
    const { parameters = [] } = document.webhooks.ipn.post;
    expect(parameters.map(({ name }) => headers[name.toLowerCase()])).toEqual(
      parameters.map(() => expect.anything()),
    );
  });
});
