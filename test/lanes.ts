type Resource = 'build' | 'chromium' | 'project';

/** Test files with the same set-up. They share workers, and a worker loads a module once for all of its files. */
interface Lane {
  include: readonly string[];
  exclude?: readonly string[];
  /**
   * Resources that the file of the same name in `test/setup` creates once for all test files: the built program, the
   * unpacked browser, a project with the package installed.
   */
  needs?: readonly Resource[];
  /** Whether its files mock modules. */
  mocks?: boolean;
  /** Whether its files run one after another, after those of all other lanes. */
  alone?: boolean;
}

/** Files that open sockets, start or kill processes, or fill disks. */
const OUTSIDE_THE_PROCESS = [
  'test/{interpret-options,package}.test.ts',
  'test/conform/{conform,target}.test.ts',
  'test/contract/curl.test.ts',
  'test/database/database.test.ts',
  'test/delivery/{courier,exchange,ipn-faults,sender}.test.ts',
  'test/diagnosis/{diagnose,seen-rows,shop-rows,verdict}.test.ts',
  'test/store/{disk,folder,lock}.test.ts',
  'test/system/clock.test.ts',
];
const MOCKING = [
  'test/audit/order-source.test.ts',
  'test/shop/witness.test.ts',
  'test/delivery/{egress,poster}.test.ts',
  'test/diagnosis/searched-signatures.test.ts',
  'test/library/control-client.test.ts',
];

/** Tests without sockets and processes in a folder of others. */
const INSIDE_THE_PROCESS = ['test/docs/pages.test.ts', 'test/audit/{condition,tokens}.test.ts'];

/** Shops of the documentation, tests in other test runners, and audits of shops in other languages or of many shops. */
const FOR_RELEASES = [
  'test/browser/pictures.test.ts',
  'test/docs/{receivers,stacks}.test.ts',
  'test/recipes/{runners,start-here}.test.ts',
  'test/audit/{database-servers,fixes,handlers,ignorant,mutants}.test.ts',
];

/** Every test file is in exactly one of these. `npm test` skips the last two. */
export const LANES: Readonly<Record<string, Lane>> = {
  /** No processes, sockets or browsers, which a set-up file enforces. */
  unit: {
    include: [
      'test/*.test.ts',
      ...INSIDE_THE_PROCESS,
      'test/{conform,contract,database,delivery,diagnosis,domain,options,service,shop,store,system,tls}/**/*.test.ts',
    ],
    exclude: [...OUTSIDE_THE_PROCESS, ...MOCKING],
  },
  mocks: { include: MOCKING, needs: ['build'], mocks: true },
  /** Everything else: routes, commands, audits, the documentation, the package, durability. */
  system: {
    include: ['test/{audit,cli,docs,http,library,recipes,usecases}/**/*.test.ts', ...OUTSIDE_THE_PROCESS],
    exclude: [...INSIDE_THE_PROCESS, ...MOCKING, ...FOR_RELEASES],
    needs: ['build', 'project'],
  },
  /** Pages in a browser, one at a time: browsers side by side need twice the processor time. */
  browser: {
    include: ['test/browser/**/*.test.ts'],
    exclude: FOR_RELEASES,
    needs: ['chromium'],
    alone: true,
  },
  /** Only `npm run test:release` runs these. */
  release: { include: FOR_RELEASES, needs: ['build', 'project', 'chromium'] },
  /** The trials of `npm run test:long`. `npm run test:release` runs a few cases of each. */
  trials: { include: ['test/long/trials/*.test.ts'], needs: ['build'], mocks: true },
};
