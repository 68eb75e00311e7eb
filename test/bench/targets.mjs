// The measurements and their targets, by section, in display order.
export const TARGETS = {
  way: {
    "a payment's whole way, one after another, relative to a bare server": { atLeast: 0.4 },
    "a payment's whole way, 16 at a time, relative to a bare server": { atLeast: 0.4 },
  },
  commands: {
    'payments --json, relative to node -e 0': { atMost: 2.4, unit: 'x' },
    'pay --approve without its wait, relative to node -e 0': { atMost: 2.4, unit: 'x' },
  },
  initiate: {
    'initiate form, relative to bare node:http': { atLeast: 0.4 },
    'initiate multipart, relative to bare node:http': { atLeast: 0.3 },
  },
  growth: {
    'rate with 100,000 payments, relative to an empty store': { atLeast: 0.9 },
  },
  reload: {
    'start with 100,000 payments after a stop, relative to JSON.parse': { atMost: 1.7, unit: 'x' },
    'start with 100,000 payments after kill -9, relative to JSON.parse': { atMost: 1.7, unit: 'x' },
  },
  lists: {
    'the list of 10,000 paid payments': { atMost: 50, unit: ' ms' },
    'a search in the list of 10,000 paid payments': { atMost: 50, unit: ' ms' },
  },
  memory: {
    'resident memory per payment, with its request log': { atMost: 1.6, unit: ' KB' },
  },
};
