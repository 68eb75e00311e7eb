import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import vm from 'node:vm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startSim } from '../helpers/sim.ts';

type Library = typeof import('../../src/index.ts');

/** What jsdom has instead of Node's classes: others of the same name. Node's own functions accept only its addresses. */
class AbortSignal extends EventTarget {
  readonly aborted = false;
}
class AbortController {
  readonly signal = new AbortSignal();
  abort(): void {}
}
const OF_JSDOM = { document: {}, AbortController, AbortSignal, URL, URLSearchParams, Event: class {} };

/**
 * The built library as Jest loads it: every module runs in a context of its own, with the globals of the environment.
 * Those of Node that are not listed are missing, such as `Response`, `TextEncoder` and `setImmediate`.
 */
function loadIn(globals: object): Library {
  const context = vm.createContext({ process, Buffer, console, setTimeout, clearTimeout, ...globals });
  const modules = new Map<string, { exports: unknown }>();
  const load = (path: string): unknown => {
    const known = modules.get(path);
    if (known) return known.exports;
    const module = { exports: {} };
    modules.set(path, module);
    const ofNode = createRequire(path);
    const require = (name: string) =>
      name.startsWith('.') ? load(resolve(dirname(path), name)) : ofNode(name);
    const names = ['require', 'module', 'exports', '__filename', '__dirname'];
    const run = vm.compileFunction(readFileSync(path, 'utf8'), names, {
      parsingContext: context,
      filename: path,
    });
    run(require, module, module.exports, path, dirname(path));
    return module.exports;
  };
  return load(join(process.cwd(), 'dist/library.cjs')) as Library;
}

describe('in a test environment that replaces the globals of Node, such as jsdom', () => {
  const { startGatewaySim, connectGatewaySim, GatewayError } = loadIn(OF_JSDOM);

  it('an emulator starts, and settles a payment', async () => {
    const sim = await startGatewaySim();
    onTestFinished(() => sim.stop());
    const receiver = await sim.listen();
    await sim.payments.create({ identifier: 'order-1', ipnUrl: `${receiver.url}/ipn` });
    await sim.payments.approve('order-1');
    expect(await receiver.waitFor({ identifier: 'order-1' })).toMatchObject({ valid: true });
    await sim.stop();
    const late = sim.payments.list();
    await expect(late).rejects.toThrow(`this emulator at ${sim.url} was stopped`);
    await expect(late).rejects.toBeInstanceOf(GatewayError);
  });

  it.each([
    ['an option that is wrong', { port: -1 }, 'usage', 'port must be a whole number'],
    ['a start that fails', { host: '192.0.2.1' }, 'usage', 'cannot listen on 192.0.2.1'],
  ])('%s is reported as everywhere', async (_, options, code, message) => {
    const start = startGatewaySim(options);
    await expect(start).rejects.toBeInstanceOf(GatewayError);
    await expect(start).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  });

  it('a client connects to an emulator, and audits a handler', async () => {
    const { url } = await startSim();
    const sim = await connectGatewaySim(url);
    const handler = await sim.listen();
    onTestFinished(() => handler.close());
    // The audit ran to its end. It had no probe, so it proves nothing.
    const audit = sim.audit({ ipnUrl: `${handler.url}/ipn`, only: ['signature-missing'] });
    await expect(audit).rejects.toMatchObject({ message: expect.stringContaining('nothing is proven') });
    await expect(connectGatewaySim('nowhere')).rejects.toMatchObject({ code: 'usage' });
  });
});
