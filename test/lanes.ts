/** A part of the suite that can be run alone: `npm run test:<name>`. */
interface Lane {
  include: readonly string[];
  exclude?: readonly string[];
  /** Of a test and of a hook, in milliseconds: many times what it takes, for machines that are slow or busy. */
  timeout: number;
}

/** They open sockets. */
const OVER_SOCKETS = ['clock', 'courier', 'poster', 'receiver-trust'].map(
  (name) => `test/delivery/${name}.test.ts`,
);
const IN_A_BROWSER = ['test/http/reference.test.ts'];
/** They kill processes, fill disks, or open very many folders. */
const WITH_PROCESSES = ['durability', 'folder', 'journal', 'replace'].map(
  (name) => `test/store/${name}.test.ts`,
);

/** Every test file is in exactly one of these. */
export const LANES: Readonly<Record<string, Lane>> = {
  /** No process, no socket, no browser: a set-up file sees to that. */
  unit: {
    include: [
      'test/*.test.ts',
      'test/docs/pages.test.ts',
      'test/{contract,delivery,domain,options,store,system,tls,wire}/**/*.test.ts',
    ],
    exclude: ['test/package.test.ts', ...OVER_SOCKETS, ...WITH_PROCESSES],
    timeout: 20_000,
  },
  http: {
    include: ['test/{http,usecases}/**/*.test.ts', ...OVER_SOCKETS],
    exclude: IN_A_BROWSER,
    timeout: 60_000,
  },
  cli: { include: ['test/cli/**/*.test.ts'], timeout: 60_000 },
  audit: { include: ['test/audit/**/*.test.ts'], timeout: 120_000 },
  library: { include: ['test/library/**/*.test.ts'], timeout: 60_000 },
  browser: { include: ['test/browser/**/*.test.ts', ...IN_A_BROWSER], timeout: 120_000 },
  /** What the documentation says, done; the package, installed; clients in other languages. */
  recipes: {
    include: ['test/{clients,docs,recipes}/**/*.test.ts', 'test/package.test.ts'],
    exclude: ['test/docs/pages.test.ts'],
    timeout: 120_000,
  },
  /** The trials of `npm run test:long`, a few cases of each. */
  trials: { include: ['test/long/trials/*.test.ts'], timeout: 60_000 },
  durability: { include: WITH_PROCESSES, timeout: 60_000 },
};
