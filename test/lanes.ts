type Resource = 'build' | 'chromium' | 'project';

/** Test files with the same set-up. They share workers, and a worker loads a module once for all of its files. */
interface Lane {
  include: readonly string[];
  exclude?: readonly string[];
  /**
   * Resources that are created once for all files, by the file of that name in `test/setup`: the built program, a
   * browser, a project that has the package installed.
   */
  needs?: readonly Resource[];
  /** Its files replace our modules or Node's. */
  mocks?: boolean;
}

/** They open sockets, kill processes, or fill disks. */
const OUTSIDE_THE_PROCESS = [
  'test/delivery/{clock,courier,poster,receiver-trust,sender}.test.ts',
  'test/store/{durability,folder}.test.ts',
  'test/package.test.ts',
];
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
      'test/docs/{glossary,pages}.test.ts',
      'test/{contract,delivery,domain,options,store,system,tls,wire}/**/*.test.ts',
    ],
    exclude: [...OUTSIDE_THE_PROCESS, ...MOCKING],
  },
  mocks: { include: MOCKING, mocks: true },
  /** Everything else: routes, commands, audits, pages in a browser, the documentation, the package, durability. */
  system: {
    include: [
      'test/{audit,browser,cli,clients,docs,http,library,recipes,usecases}/**/*.test.ts',
      ...OUTSIDE_THE_PROCESS,
    ],
    exclude: ['test/docs/{glossary,pages}.test.ts', ...MOCKING, ...FOR_RELEASES],
    needs: ['build', 'project', 'chromium'],
  },
  /** Only for releases: `npm run test:release`. */
  release: { include: FOR_RELEASES, needs: ['build', 'project'] },
  /** The trials of `npm run test:long`; a few cases of each for a release. */
  trials: { include: ['test/long/trials/*.test.ts'], needs: ['build'], mocks: true },
};
