// The measurements and their targets, by section, in display order.

/** A target that depends on the major version of Node, because newer ones start faster. */
const byMajor = (of20, of22, of24) => (major) => (major >= 24 ? of24 : major >= 22 ? of22 : of20);

export const TARGETS = {
  initiate: {
    'initiate form, relative to bare node:http': { atLeast: 0.6 },
    'initiate multipart, relative to bare node:http': { atLeast: 0.5 },
  },
  growth: {
    'rate with 100,000 payments, relative to an empty store': { atLeast: 0.95 },
    'p99 with 100,000 payments, relative to an empty store': { atMost: 2, unit: 'x' },
  },
  memory: {
    'memory per payment, with its request log': { atMost: 1.5, unit: ' KB' },
    'memory per payment, read from disk': { atMost: 1.5, unit: ' KB' },
  },
  reload: {
    'reload after a stop, relative to JSON.parse': { atMost: 1.5, unit: 'x' },
    'reload after kill -9, relative to JSON.parse': { atMost: 1.5, unit: 'x' },
  },
  start: {
    'start to ready, relative to node -e 0': { atMost: byMajor(3.4, 2.9, 2.7), unit: 'x' },
    'start to the first answered initiate, relative to node -e 0': {
      atMost: byMajor(3.8, 3.3, 3.1),
      unit: 'x',
    },
    '--version, relative to node -e 0': { atMost: 1.35, unit: 'x' },
  },
  commands: {
    'payments --json, relative to node -e 0': { atMost: 2.6, unit: 'x' },
    'status, relative to node -e 0': { atMost: 2.6, unit: 'x' },
    'pay --approve without its wait, relative to node -e 0': { atMost: 2.6, unit: 'x' },
  },
  library: {},
  ipns: {
    'rate of due IPNs, relative to a bare client': { atLeast: 0.6 },
    'settle to arrival when idle, p50': { atMost: 2, unit: ' ms' },
    'settle to arrival when idle, p99': { atMost: 5, unit: ' ms' },
  },
  package: {
    'installed size': { atMost: 3, unit: ' MB' },
    'installed packages': { atMost: 1 },
  },
  page: {
    'checkout page': { atMost: 17, unit: ' KB' },
    'requests of the checkout page, without the logo': { atMost: 1 },
  },
  million: {
    'restart with 1,000,000 payments': { atMost: 8, unit: ' s' },
    'peak memory of that restart': { atMost: 1.5, unit: ' GB' },
    'memory per payment with 1,000,000 payments': { atMost: 1.5, unit: ' KB' },
    'rate with 1,000,000 payments, relative to an empty store': { atLeast: 0.9 },
    'p99 with 1,000,000 payments, relative to an empty store': { atMost: 2, unit: 'x' },
  },
};
