import { describe, expect, it } from 'vitest';
import type { Delivery as DeliveryView } from '../../src/contract/delivery.ts';
import type { Verification as Verdict } from '../../src/diagnosis/verify.ts';
import { sign } from '../../src/service/signature.ts';
import { launch, run, runJson, startIn } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { gate, startReceiver } from '../helpers/receiver.ts';
import { ORDER, paid, startSim } from '../helpers/sim.ts';

const SECRET = 'sec_sim_9876543210';

/** A running emulator, and the options for commands to find it. */
async function running() {
  const cwd = await temporaryFolder();
  const sim = await startSim();
  return { sim, options: { cwd, env: { GATEWAY_SIM_URL: sim.url } } };
}

function body({ signature, status = 'success' }: { signature: string; status?: string }): string {
  const fields = { status, signature, identifier: 'order-1', 'data[amount]': '100.00' };
  return new URLSearchParams(fields).toString();
}

const GOOD = body({ signature: sign('100.00', 'order-1', SECRET) });

describe('ipn fire --parallel', () => {
  it('sends copies of a known payment at the same time', async () => {
    const cwd = await temporaryFolder();
    const { opened, open } = gate();
    const receiver = await startReceiver((_, number) => {
      // Responses wait until all requests have arrived.
      if (number === 5) open();
      return { after: opened };
    });
    const sim = await startIn(cwd);
    await sim.initiate({ ...ORDER, ipn_url: `${receiver.url}/ipn?token=t` });
    const { code, body } = await runJson<{ data: { state: string }[] }>(
      ['ipn', 'fire', '--payment', 'order-1', '--parallel', '5'],
      { cwd },
    );
    expect([code, body.data.map(({ state }) => state)]).toEqual([0, Array(5).fill('delivered')]);
    expect(receiver.mostAtOnce()).toBe(5);
    expect(new Set(receiver.requests.map(({ url }) => url))).toEqual(new Set(['/ipn?token=t']));
    const { trx } = sim.server.parts.store.state.findPayment('order-1') ?? {};
    expect(new URLSearchParams(receiver.requests[0]?.body).get('data[payment_trx]')).toBe(trx);
    const verified = await run(['ipn', 'verify', '--body', receiver.requests[0]?.body ?? ''], { cwd });
    expect(verified.code).toBe(0);
  });
});

describe('ipn list, show and resend', () => {
  it('print every attempt with its request and response; ipn alone lists', async () => {
    const receiver = await startReceiver([{ status: 500, body: 'broken' }, { body: 'OK' }]);
    const { sim, options } = await running();
    const { delivery } = await paid(sim, { ipn_url: receiver.url });
    const { id, body } = delivery ?? expect.fail('no IPN was sent');
    await sim.server.parts.ipns.resend(id);
    const { stdout } = await run(['ipn', 'show', id], options);
    for (const line of ['X-Gateway-Sim-Attempt: 1', 'X-Gateway-Sim-Attempt: 2', body])
      expect(stdout).toContain(`> ${line}\n`);
    for (const line of ['HTTP 500', 'broken', 'HTTP 200', 'OK']) expect(stdout).toContain(`< ${line}`);
    expect((await run(['ipn', '--payment', 'order-1'], options)).stdout).toContain(id);
  });

  it('use the newest IPN if none is given, and name it, as payments show does with a payment', async () => {
    const receiver = await startReceiver();
    const { sim, options } = await running();
    const missing = ['payments show', 'ipn show', 'ipn resend'].map((line) => run(line.split(' '), options));
    for (const { code, stderr } of await Promise.all(missing))
      expect([code, stderr]).toEqual([4, expect.stringMatching(/there (is|are) no/)]);
    for (const identifier of ['order-1', 'order-2']) {
      await sim.initiate({ ...ORDER, identifier, ipn_url: receiver.url });
      await run(['pay', '--approve'], options);
    }
    const payment = await run(['payments', 'show'], options);
    expect([payment.code, payment.stderr]).toEqual([0, 'The newest payment: order-2\n']);
    expect(payment.stdout).toContain('(order-2)');
    const fired = await run(['ipn', 'fire', '--to', receiver.url], options);
    expect(fired.code).toBe(0);
    const resent = await run(['ipn', 'resend'], options);
    expect([resent.code, resent.stderr]).toEqual([
      0,
      expect.stringMatching(/^The newest IPN: ipn_\S+, of order-2\n/),
    ]);
    expect((await receiver.request(4)).body).toContain('identifier=order-2');
    const shown = await runJson<DeliveryView>(['ipn', 'show'], options);
    expect(shown.body.paymentId).toBeNull();
    await sim.initiate({ ...ORDER, identifier: 'order-3' });
    const none = await run(['ipn', 'resend'], options);
    expect([none.code, none.stderr]).toEqual([4, expect.stringContaining('payment "order-3" has no IPN')]);
  });
});

describe('ipn fire', () => {
  it('needs no emulator with --secret', async () => {
    const receiver = await startReceiver([{ status: 400, body: 'no' }]);
    const cwd = await temporaryFolder();
    const flags = ['--secret', SECRET, '--times', '2', '--amount', '7.50', '--format', 'json'];
    const args = ['ipn', 'fire', '--to', `${receiver.url}/x?y=1`, ...flags];
    const { code, body: fired } = await runJson<{ data: DeliveryView[] }>(args, { cwd });
    expect(code).toBe(0);
    expect(fired.data.map(({ state, attempts }) => [state, attempts[0]?.responseBody])).toEqual([
      ['failed', 'no'],
      ['failed', 'no'],
    ]);
    const [got, again] = receiver.requests;
    expect(got?.url).toBe('/x?y=1');
    expect(got?.headers).toMatchObject({ 'content-type': 'application/json', 'x-gateway-sim': '1' });
    expect(got?.body).toBe(again?.body);
    const { signature, identifier, data } = JSON.parse(got?.body ?? '');
    expect([data.amount, signature]).toEqual(['7.50', sign('7.50', identifier, SECRET)]);
  });

  it('sends the headers of an IPN of the emulator, in the same order, without one too', async () => {
    const { options } = await running();
    const receiver = await startReceiver();
    const to = ['ipn', 'fire', '--to', receiver.url];
    for (const args of [to, [...to, '--secret', SECRET], [...to, '--parallel', '2']])
      expect((await run(args, options)).code).toBe(0);
    const [ofEmulator, ...others] = receiver.requests.map(({ rawHeaders }) =>
      rawHeaders.map((text, index) => (index % 2 === 0 ? text : text.replace(/^(\d+|ipn_\w+)$/, ''))),
    );
    expect(ofEmulator).toContain('X-Gateway-Sim-Attempt');
    expect(others).toEqual([ofEmulator, ofEmulator, ofEmulator]);
  });

  it('exits 1 and speaks of no order if nobody answers, as resend does', async () => {
    const { sim, options } = await running();
    const to = ['ipn', 'fire', '--to', 'http://127.0.0.1:9/ipn'];
    for (const args of [to, [...to, '--secret', SECRET], [...to, '--parallel', '2']]) {
      const { code, stdout, stderr } = await run(args, options);
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/^gateway-sim: \d of \d IPNs got no response\n/m),
      ]);
      expect(stdout).toContain('Connection refused: nothing is listening on 127.0.0.1:9.');
      expect(stdout).not.toMatch(/\border\b/);
    }
    await paid(sim);
    expect(await run(['ipn', 'resend'], options)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('This order stays unpaid.'),
    });
  });

  it('applies every --tamper with --secret', async () => {
    const receiver = await startReceiver();
    const to = ['--to', receiver.url, '--identifier', 'order-1', '--amount', '7.50', '--secret', SECRET];
    const tamper = ['--tamper', 'amount=0.01', '--tamper', 'status', '--tamper', 'identifier=order-2'];
    expect((await run(['ipn', 'fire', ...to, ...tamper], { cwd: await temporaryFolder() })).code).toBe(0);
    const sent = Object.fromEntries(new URLSearchParams(receiver.requests[0]?.body));
    expect(sent).toMatchObject({ status: 'failed', identifier: 'order-2', 'data[amount]': '0.01' });
  });

  it('shows what was tampered with, and suggests nothing for an IPN that should be rejected', async () => {
    const receiver = await startReceiver([{ status: 401 }]);
    const { options } = await running();
    const { stdout, stderr } = await run(['ipn', 'fire', '--to', receiver.url, '--tamper', 'case'], options);
    expect(stdout).toMatch(/^Note +tampered with: letter case of the signature$/m);
    expect(stderr).toBe('');
  });

  it('makes a list of a repeated --set, and accepts several --unset', async () => {
    const receiver = await startReceiver();
    const { options } = await running();
    const changes = ['--set', 'note[]=a', '--set', 'note[]=b', '--unset', 'status', '--unset', 'data.charge'];
    expect((await run(['ipn', 'fire', '--to', receiver.url, ...changes], options)).code).toBe(0);
    const sent = new URLSearchParams(receiver.requests[0]?.body);
    expect(sent.getAll('note[]')).toEqual(['a', 'b']);
    expect(['status', 'data[charge]'].filter((name) => sent.has(name))).toEqual([]);
  });

  it.each([
    [{ status: 400 }, 0, ''],
    [{ status: 302 }, 0, ''],
    [{ status: 204 }, 1, 'gateway-sim: 1 of 1 IPNs were accepted; expected 0\n'],
    [{ body: '{"status":"error"}' }, 0, ''],
    ['drop' as const, 3, 'gateway-sim: 1 of 1 IPNs got no response\n'],
  ])('--expect-refusal with the response %j exits %i', async (answer, expected, message) => {
    const receiver = await startReceiver([answer]);
    const { options } = await running();
    const args = ['ipn', 'fire', '--to', receiver.url, '--tamper', 'signature', '--expect-refusal'];
    const { code, stderr } = await run(args, options);
    expect([code, stderr.replace(/^(Request|Check).*\n/gm, '')]).toEqual([expected, message]);
    expect((await run([...args, '--secret', SECRET], options)).code).toBe(expected);
  });

  it('sends to a host that --allow-ipn-host allows', async () => {
    const cwd = await temporaryFolder();
    const receiver = await startReceiver();
    const to = receiver.url.replace('127.0.0.1', '0.0.0.0');
    const args = ['ipn', 'fire', '--to', to, '--secret', SECRET, '--require-delivery'];
    expect(await run([...args, '--allow-ipn-host', '0.0.0.0'], { cwd })).toMatchObject({ code: 0 });
    const { code, stderr } = await run(['ipn', 'fire', '--to', to, '--allow-ipn-host', '0.0.0.0'], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining('--allow-ipn-host requires --secret')]);
  });
});

describe('ipn verify', () => {
  it.each([
    ['as an argument', [GOOD], undefined],
    ['with --body', ['--body', GOOD], undefined],
    ['on stdin', [], GOOD],
    ['on stdin, named -', ['--body', '-'], `${GOOD}\n`],
    ['in a file', ['@ipn.txt'], undefined],
  ])('reports a valid IPN %s and exits 0', async (_, args, input) => {
    const cwd = await temporaryFolder({ 'ipn.txt': `${GOOD}\n` });
    const options = { cwd, ...(input !== undefined && { input }) };
    const verified = await runJson<Verdict>(['ipn', 'verify', ...args, '--secret', SECRET], options);
    expect(verified).toMatchObject({ code: 0, body: { valid: true, identifier: 'order-1' } });
  });

  it('accepts the id of an IPN, and says that keys were replaced, without printing the old ones', async () => {
    const receiver = await startReceiver();
    const { sim, options } = await running();
    const { secretKey: old } = sim;
    const fire = ['ipn', 'fire', '--to', receiver.url];
    const before = await runJson<DeliveryView>(fire, options);
    expect(await run(['ipn', 'verify', before.body.id], options)).toMatchObject({ code: 0 });
    const replaced = await run(['keys', 'generate'], options);
    const captured = await run(['ipn', 'verify', before.body.body], options);
    expect(captured).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('the keys were replaced at '),
    });
    const after = await runJson<DeliveryView>(fire, options);
    const withOld = await run(['ipn', 'verify', after.body.id, '--secret', old], options);
    expect(withOld.code).toBe(1);
    expect(withOld.stdout).toContain('the secret key given here was replaced at ');
    const merchants = JSON.stringify(await sim.control('/merchants'));
    const state = JSON.stringify(await sim.control('/snapshot'));
    const printed = [replaced, captured, withOld].flatMap(({ stdout, stderr }) => [stdout, stderr]);
    expect([...printed, merchants, state].join()).not.toContain(old);
    expect(await run(['ipn', 'verify', 'ipn_nope'], options)).toMatchObject({ code: 4 });
  });

  it('reads the output of print_r', async () => {
    const lines = [...new URLSearchParams(GOOD)].map(([name, value]) => `    [${name}] => ${value}`);
    const cwd = await temporaryFolder({ printed: `Array\n(\n${lines.join('\n')}\n)\n` });
    expect(await run(['ipn', 'verify', '@printed', '--secret', SECRET], { cwd })).toMatchObject({ code: 0 });
  });

  it('uses the key of the running emulator, and recognizes the key of another merchant', async () => {
    const { sim, options } = await running();
    const good = body({ signature: sign('100.00', 'order-1', sim.secretKey) });
    expect((await run(['ipn', 'verify', good], options)).code).toBe(0);
    const added = await runJson<{ secretKey: string }>(['keys', 'generate', '--merchant', 'shop-2'], options);
    const other = body({ signature: sign('100.00', 'order-1', added.body.secretKey) });
    expect((await run(['ipn', 'verify', other], options)).stdout).toContain('of the merchant "shop-2"');
    expect((await run(['ipn', 'verify', other, '--merchant', 'shop-2'], options)).code).toBe(0);
  });

  it('recognizes the public key of the emulator, and another one given with --public-key', async () => {
    const { sim, options } = await running();
    for (const key of [sim.publicKey, 'pub_of_my_code']) {
      const signed = body({ signature: sign('100.00', 'order-1', key) });
      const verified = await run(['ipn', 'verify', signed, '--public-key', 'pub_of_my_code'], options);
      expect([key, verified.stdout]).toEqual([key, expect.stringContaining('signed with the public key')]);
    }
  });
});

interface Received {
  event: string;
  url: string;
  answered: number;
  verdict: Verdict;
}

/** Starts `ipn listen` on a free port, and waits until it is ready. */
async function listening(args: readonly string[]) {
  const cwd = await temporaryFolder();
  const listener = launch(['ipn', 'listen', '--port', '0', '--secret', SECRET, '--json', ...args], { cwd });
  await listener.until((stdout) => stdout.includes('\n'));
  const lines = () =>
    listener
      .stdout()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Received);
  const [ready] = lines();
  // A response may arrive before its line is printed.
  const received = async (count: number): Promise<Received[]> => {
    await listener.until((stdout) => stdout.split('\n').length > count + 1);
    return lines().slice(1);
  };
  return { ...listener, url: ready?.url ?? '', received };
}

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

describe('ipn listen', () => {
  it('on another port says how to send IPNs there', async () => {
    const listener = launch(['ipn', 'listen', '--port', '0', '--secret', SECRET], {
      cwd: await temporaryFolder(),
    });
    await listener.until((_, stderr) => stderr.includes('payments create --ipn-url http://'));
  });

  it('verifies and prints IPNs, and stops on SIGTERM', async () => {
    const listener = await listening([]);
    const good = await fetch(`${listener.url}/ipn?order=1`, { method: 'POST', headers: FORM, body: GOOD });
    expect([good.status, await good.text()]).toEqual([200, 'OK\n']);
    const bad = body({ signature: 'x' });
    expect((await fetch(listener.url, { method: 'POST', headers: FORM, body: bad })).status).toBe(400);
    expect((await fetch(listener.url)).status).toBe(405);
    expect(await listener.received(3)).toMatchObject([
      { url: '/ipn?order=1', answered: 200, verdict: { valid: true } },
      { url: '/', answered: 400, verdict: { valid: false } },
      { url: '/', answered: 405, verdict: { valid: false } },
    ]);
    expect(await listener.stop()).toMatchObject({ code: 0, stderr: '' });
  });

  it('answers 200 to an authentic IPN with another status', async () => {
    const listener = await listening([]);
    const canceled = body({ status: 'canceled', signature: sign('100.00', 'order-1', SECRET) });
    const response = await fetch(listener.url, { method: 'POST', headers: FORM, body: canceled });
    expect(response.status).toBe(200);
    expect((await listener.received(1))[0]?.verdict).toMatchObject({ valid: false, authentic: true });
  });

  it('forwards bytes and headers unchanged and returns the response', async () => {
    const bytes = Buffer.from([0, 255, 10]);
    const receiver = await startReceiver([{ status: 418, headers: { 'X-Mine': 'yes' }, body: bytes }]);
    const listener = await listening(['--forward-to', `${receiver.url}/ipn?mine=1`]);
    const answer = await fetch(`${listener.url}/other?order=1`, {
      method: 'POST',
      headers: { ...FORM, 'X-Gateway-Sim-Delivery': 'ipn_1' },
      body: `${GOOD}&x=%zz+`,
    });
    expect([answer.status, answer.headers.get('x-mine')]).toEqual([418, 'yes']);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
    expect(receiver.requests[0]).toMatchObject({
      method: 'POST',
      url: '/ipn?mine=1&order=1',
      body: `${GOOD}&x=%zz+`,
      headers: {
        'content-type': FORM['Content-Type'],
        'x-gateway-sim-delivery': 'ipn_1',
        host: `127.0.0.1:${receiver.port}`,
      },
    });
  });

  it('answers 502 with a reason for an unknown host, and continues', async () => {
    const listener = await listening(['--forward-to', 'http://nobody.invalid:3000/ipn']);
    for (let count = 0; count < 2; count++) {
      const answer = await fetch(listener.url, { method: 'POST', headers: FORM, body: GOOD });
      expect([answer.status, await answer.text()]).toEqual([
        502,
        expect.stringMatching(/^not forwarded: .*nobody\.invalid/),
      ]);
    }
    expect(await listener.received(2)).toMatchObject([{ answered: 502 }, { answered: 502 }]);
    expect(listener.stderr()).toBe('');
  });

  it('answers 413 to more than 1 MiB and continues', async () => {
    const listener = await listening([]);
    const large = await fetch(listener.url, { method: 'POST', body: 'x'.repeat(2 ** 20 + 1) });
    expect(large.status).toBe(413);
    expect((await fetch(listener.url, { method: 'POST', headers: FORM, body: GOOD })).status).toBe(200);
  });

  it('uses the new keys when they are replaced', async () => {
    const { sim, options } = await running();
    const listener = launch(['ipn', 'listen', '--port', '0', '--json'], options);
    await listener.until((stdout) => stdout.includes('\n'));
    const { url } = JSON.parse(listener.stdout()) as { url: string };
    await sim.initiate({ ...ORDER, ipn_url: url });
    await run(['keys', 'generate'], options);
    const { body: settled } = await runJson<{ delivery: DeliveryView }>(['pay', '--approve'], options);
    expect(settled.delivery.state).toBe('delivered');
  });

  it('exits 5 when its port is in use', async () => {
    const receiver = await startReceiver();
    const cwd = await temporaryFolder();
    const args = ['ipn', 'listen', '--secret', SECRET, '--port', String(receiver.port)];
    const finished = await run(args, { cwd });
    expect(finished).toMatchObject({ code: 5, stderr: expect.stringContaining('is in use') });
  });
});
