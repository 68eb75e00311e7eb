import { expect, it, onTestFinished, vi } from 'vitest';
import type { AuditGateway } from '../../src/audit/gateway.ts';
import { Orders } from '../../src/audit/order-source.ts';
import { isAlive } from '../../src/store/process-identity.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { hangingCommand } from '../helpers/shells.ts';

// So that time can be faked.
vi.mock('../../src/system/real-time.ts', () => import('../helpers/replaceable-time.ts'));

it('an order command and its processes are killed when the order times out', async () => {
  const list = () => Promise.resolve({ data: [] });
  const mask = (text: string) => text;
  const gateway = { env: {}, mask, payments: { list }, requests: { list } } as unknown as AuditGateway;
  const { cmd, pids } = hangingCommand(await temporaryFolder());
  const orders = new Orders(gateway, { ipnUrl: 'http://localhost/ipn', orderCmd: cmd }, new Set(), '');
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const taken = orders.take();
  taken.catch(() => {});
  const started = await pids();
  vi.advanceTimersByTime(15_001);
  await expect(taken).rejects.toThrow(
    `initiated no payment within 15 s of the order, and \`${cmd}\` was still running. --timeout sets this limit`,
  );
  vi.useRealTimers();
  // The command's own limit is 30 s.
  await expect.poll(() => started.filter(isAlive), { timeout: 2_000 }).toEqual([]);
});

it('an order command shows the cookies of its customer, and the name of its order', async () => {
  const payment = { id: 'pay_1', ipnUrl: 'http://localhost/ipn', auto: null };
  const list = () => Promise.resolve({ data: [payment] });
  const gateway = { env: {}, payments: { list } } as unknown as AuditGateway;
  const orderCmd = "printf 'Order 17\\nSet-Cookie: a=1; Path=/\\r\\nset-cookie: b=2\\n'";
  const orders = new Orders(gateway, { ipnUrl: 'http://localhost/ipn', orderCmd }, new Set(), '');
  const order = await orders.take();
  expect(order && [orders.cookiesOf(order.payment), orders.valuesOf(order.payment).order]).toEqual([
    'a=1; b=2',
    'Order 17',
  ]);
});
