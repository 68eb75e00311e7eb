import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { explainedBy } from '../../src/conform/explain.ts';
import { conformJunit, maskedReport } from '../../src/conform/reports.ts';
import { PROFILE_NAMES } from '../../src/contract/profiles.ts';
import { held, inForce, LINES, linesNamed } from '../helpers/conform.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startSim } from '../helpers/sim.ts';

const hasOpenssl = spawnSync('openssl', ['version'], { stdio: 'ignore' }).status === 0;

const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id);

// The whole list takes a while on a machine that does much else.
describe('the emulator', { timeout: 60_000 }, () => {
  it.each(PROFILE_NAMES)('holds every line of the profile %s', async (profile) => {
    const { report } = await held(await startSim({ profile }), { profile });
    expect(report.differ).toEqual([]);
    expect([...new Set(report.unseen.map(({ why }) => why))]).toEqual(['it only concerns clients']);
    expect(report.agree).toBeGreaterThan(200);
  });

  it('is told apart from one of another profile, and the differences are explained', async () => {
    const sim = await startSim({ profile: 'older-server' });
    const { report, verdicts } = await held(sim, {}, { alsoTry: true });
    expect(ids(report.differ)).toEqual(
      expect.arrayContaining(['refusal-field-message-live', 'ipn-retried', 'checkout-again-page']),
    );
    expect(explainedBy(verdicts, inForce({}))).toEqual({
      profile: 'document',
      choices: {
        currencyCase: 'free',
        initiateByGet: 'taken',
        sandboxRefusal: 'errors',
        liveRefusal: 'message-list',
        otherRefusal: 'message',
        settledVisit: 'error',
      },
      amountFormat: 'stored-live',
      ipnRetries: 0,
    });
  });

  it('needs nothing explained where it differs in nothing', async () => {
    const sim = await startSim({ currency: ['NPR:Rs'] });
    const lines = linesNamed(
      'field-logo-missing',
      'field-logo-optional',
      'currency-npr-taken',
      'currency-pkr-taken',
    );
    const { report, verdicts } = await held(sim, {}, { alsoTry: true, lines });
    expect(report).toMatchObject({ agree: 1, differ: [] });
    expect(explainedBy(verdicts, inForce({}))).toEqual({ profile: 'document', currency: ['NPR'] });
  });

  it('is explained from a loose profile, too', async () => {
    const sim = await startSim({ profile: 'newer-server' });
    const expected = { profile: 'observed' };
    const { report, verdicts } = await held(sim, expected, { alsoTry: true });
    expect(ids(report.differ)).toContain('field-details-any-length');
    const explained = explainedBy(verdicts, inForce(expected));
    expect(explained).toMatchObject({
      profile: 'observed',
      loose: false,
      choices: { siteLogo: 'optional', valueLengths: 'limited', currencyCase: 'free' },
    });
    const file = join(await temporaryFolder(), 'ours.json');
    await writeFile(file, JSON.stringify(explained));
    const again = await held(sim, { profile: file });
    expect(ids(again.report.differ)).toEqual([]);
  });

  it('settles nothing that was there before', async () => {
    const sim = await startSim();
    await sim.initiate({ ...ORDER_OF_OTHERS });
    await held(sim, {}, { lines: linesNamed('ipn-status', 'checkout-again-page', 'ipn-not-on-cancel') });
    const { data } = await sim.control<{ data: { status: string }[] }>('/payments?identifier=not-ours');
    expect(data).toMatchObject([{ status: 'pending' }]);
  });
});

it('leaves nothing pending behind', async () => {
  const sim = await startSim();
  await held(
    sim,
    {},
    { lines: linesNamed('initiate-live', 'initiate-identifier-reused', 'checkout-email-then-code') },
  );
  const { data } = await sim.control<{ data: { status: string; identifier: string }[] }>('/payments');
  expect(data.length).toBeGreaterThan(4);
  // The first of them found out what is at the address.
  expect(data.filter(({ status }) => status === 'pending')).toEqual([]);
  expect((await sim.control<{ data: unknown[] }>('/ipns')).data).toEqual([]);
});

it('leaves no retry behind', async () => {
  const sim = await startSim();
  await held(sim, {}, { lines: linesNamed('ipn-retried', 'ipn-redirect-not-followed') });
  const { data } = await sim.control<{ data: { state: string }[] }>('/ipns');
  expect(data.map(({ state }) => state)).toEqual(['delivered', 'delivered']);
});

const ORDER_OF_OTHERS = {
  identifier: 'not-ours',
  currency: 'USD',
  amount: '5.00',
  details: 'x',
  ipn_url: 'http://127.0.0.1:9/',
  success_url: 'http://localhost/a',
  cancel_url: 'http://localhost/b',
  site_logo: 'http://localhost/c',
  customer_name: 'Bob',
  customer_email: 'bob@example.com',
};

/** A server that answers as it is told. */
async function startServer(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a target', () => {
  const keys = { publicKey: 'pub_x', secretKey: 'sec_x' };

  it.each(['<html></html>', '[]', '{"status":"ok"}', '"error"'])(
    'that answers %s three times is no such gateway',
    async (body) => {
      let asked = 0;
      const url = await startServer((_, response) => {
        asked++;
        response.end(body);
      });
      await expect(held({ url, ...keys })).rejects.toMatchObject({
        code: 'no_server',
        message: expect.stringContaining('is no gateway of this interface'),
      });
      expect(asked).toBe(3);
    },
  );

  it('that is down is said to be', async () => {
    await expect(held({ url: 'http://127.0.0.1:9', ...keys })).rejects.toMatchObject({
      code: 'no_server',
      message: expect.stringContaining('connection refused'),
    });
  });

  it.runIf(hasOpenssl)('whose certificate nobody trusts is not asked (where there is openssl)', async () => {
    const folder = await temporaryFolder();
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const make = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    spawnSync('openssl', [...make, '-days', '1', '-subj', '/CN=localhost', '-keyout', key, '-out', cert]);
    let asked = 0;
    const server = createSecureServer({ key: await readFile(key), cert: await readFile(cert) }, () => {
      asked++;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `https://localhost:${(server.address() as AddressInfo).port}`;
    await expect(held({ url, ...keys })).rejects.toMatchObject({
      code: 'no_server',
      message: expect.stringMatching(/certificate of localhost:\d+ is not trusted.*NODE_EXTRA_CA_CERTS/),
    });
    expect(asked).toBe(0);
  });

  it('that does not know a key is said to', async () => {
    const { url, publicKey, secretKey } = await startSim();
    const wrong = held({ url, publicKey: 'pub_wrong_0001', secretKey });
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_api_key', message: /public key pub_wron…$/ });
    const alsoWrong = held({ url, publicKey, secretKey: 'sec_wrong_0001' });
    await expect(alsoWrong).rejects.toMatchObject({ message: /secret key sec_wron…$/ });
    await expect(held({ url, publicKey: '', secretKey: '' })).rejects.toMatchObject({
      message: /asks for a public/,
    });
  });
});

describe('a report that is sent to others', () => {
  it('holds no key, address, card number or name', () => {
    const report = {
      ...{ target: 'https://user:word@pay.example/base', profile: 'document', agree: 1, unseen: [] },
      differ: [
        {
          id: 'x',
          expected: 'a key sec_live_0123456789abcdef',
          got: '{"message":"no bob.builder@mail.example here","card_number":"4111111111111111","name_on_card":"Bob B","cvc":"123"}',
        },
      ],
    };
    const text = JSON.stringify(
      maskedReport(report, ['sec_live_0123456789abcdef', 'pub_live_0123456789abcdef']),
    );
    for (const secret of ['0123456789', 'bob.builder', '411111111111', 'Bob B', '"123', 'user:word'])
      expect(text).not.toContain(secret);
    expect(text).toContain('…1111');
  });

  it('is one test a line for CI servers', () => {
    const lines = LINES.slice(0, 3);
    const [one, two] = ids(lines);
    const xml = conformJunit(
      {
        ...{ target: 'http://a', profile: 'document', agree: 1 },
        differ: [{ id: one ?? '', expected: '"a" & <b>', got: 'nothing' }],
        unseen: [{ id: two ?? '', why: 'why not' }],
      },
      lines,
    );
    expect(xml).toContain('tests="3" failures="1" skipped="1"');
    expect(xml).toContain('expected: &quot;a&quot; &amp; &lt;b&gt;');
  });
});
