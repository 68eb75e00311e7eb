/** A part of the suite that can run alone: `npm run test:<name>`. */
interface Lane {
  include: readonly string[];
  exclude?: readonly string[];
  /**
   * Resources that are created once for all files, by the file of that name in `test/setup`: the built program, a
   * browser, a project that has the package installed.
   */
  needs?: readonly ('build' | 'chromium' | 'project')[];
  /** Its files replace our modules or Node's. */
  mocks?: boolean;
}

/** They open sockets. */
const OVER_SOCKETS = ['clock', 'courier', 'poster', 'receiver-trust', 'sender'].map(
  (name) => `test/delivery/${name}.test.ts`,
);
/** They kill processes, fill disks, or open very many folders. */
const WITH_PROCESSES = ['durability', 'folder', 'replace'].map((name) => `test/store/${name}.test.ts`);
const MOCKING = [
  'test/delivery/egress.test.ts',
  'test/http/rewording.test.ts',
  'test/store/migrations.test.ts',
];

/** Other test runners, each with its own project, shops in other languages, and the runner of the trials. */
const FOR_RELEASES = [
  'test/recipes/{runners,copied-tests,parallel}.test.ts',
  'test/audit/merchants.test.ts',
  'test/long/run.test.ts',
];

/** Every test file is in exactly one of these. `npm test` skips the last two. */
export const LANES: Readonly<Record<string, Lane>> = {
  /** No process, no socket, no browser: a set-up file ensures that. */
  unit: {
    include: [
      'test/*.test.ts',
      'test/docs/pages.test.ts',
      'test/{contract,delivery,domain,options,store,system,tls,wire}/**/*.test.ts',
    ],
    exclude: ['test/package.test.ts', ...OVER_SOCKETS, ...WITH_PROCESSES, ...MOCKING],
  },
  mocks: { include: MOCKING, mocks: true },
  http: {
    include: ['test/{http,usecases}/**/*.test.ts', ...OVER_SOCKETS],
    exclude: MOCKING,
    needs: ['build'],
  },
  cli: { include: ['test/cli/**/*.test.ts'], needs: ['build'] },
  audit: { include: ['test/audit/**/*.test.ts'], exclude: FOR_RELEASES },
  library: { include: ['test/library/**/*.test.ts'] },
  browser: { include: ['test/browser/**/*.test.ts'], needs: ['chromium'] },
  /** The documentation, executed; the package, installed; clients in other languages. */
  recipes: {
    include: ['test/{clients,docs,recipes}/**/*.test.ts', 'test/package.test.ts'],
    exclude: ['test/docs/pages.test.ts', ...FOR_RELEASES],
    needs: ['build', 'project'],
  },
  durability: { include: WITH_PROCESSES, needs: ['build'] },
  /** Only for releases: `npm run test:release`. */
  release: { include: FOR_RELEASES, needs: ['build', 'project', 'chromium'] },
  /** The trials of `npm run test:long`; a few cases of each for a release. */
  trials: { include: ['test/long/trials/*.test.ts'], needs: ['build'], mocks: true },
};
