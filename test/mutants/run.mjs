// Changes the code in one place at a time, and checks whether the tests detect it.
//
//   npm run mutants -- <path in src>… [--seed 1] [--count 30]
//
// Prints `.` for each detected mutant, `t` for one that exceeded the time limit, which also counts as detected, and `!`
// for others. Then it lists the undetected mutants and the detected percentage of each path. Fails if that is below the
// layer's target.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { loadConfigFromFile } from 'vite';
import { createVitest } from 'vitest/node';
import { findMutants, withSwitches } from './find.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const OVER_HTTP = ['http', 'usecases', 'delivery'];
const RULES = { lanes: [['unit', 'mocks'], OVER_HTTP, ['cli']], aim: 85 };
/**
 * The tests of a layer, in order (lanes, or folders in the lane `system`), and the percentage of mutants that they must
 * detect.
 */
const LAYERS = {
  contract: RULES,
  delivery: RULES,
  domain: RULES,
  store: { lanes: [['unit', 'mocks'], ['store'], OVER_HTTP, ['cli']], aim: 85 },
  usecases: RULES,
  wire: RULES,
  audit: { lanes: [['audit'], ['cli', 'library']], aim: 75 },
  http: { lanes: [OVER_HTTP], aim: 75 },
};

/** All mutants of the path, with their places. */
function mutantsOf(path) {
  const files = statSync(join(ROOT, path)).isDirectory()
    ? readdirSync(join(ROOT, path), { recursive: true, encoding: 'utf8' }).map((name) => join(path, name))
    : [path];
  return files
    .filter((file) => /\.tsx?$/.test(file) && !file.includes('/assets/'))
    .toSorted()
    .flatMap((file) => {
      const code = readFileSync(join(ROOT, file), 'utf8');
      return findMutants(code, file.split('.').at(-1)).map((mutant) => ({ ...mutant, file, code }));
    });
}

function drawn(all, { seed, count }) {
  const size = Math.min(Number(count), all.length);
  const indexes = fc.shuffledSubarray([...all.keys()], { minLength: size, maxLength: size });
  const [chosen] = fc.sample(indexes, { seed: Number(seed), numRuns: 1 });
  return chosen.toSorted((one, other) => one - other).map((index) => all[index]);
}

/** Keeps files in the given order. */
class AsGiven {
  sort = (files) => files;
}

/** Starts Vitest with a switch for each mutant. One process runs all mutants, so that each file is compiled only once. */
async function startVitest(mutants) {
  const switches = {
    name: 'mutants',
    enforce: 'pre',
    transform(code, id) {
      const here = mutants.filter(({ file }) => join(ROOT, file) === id);
      return here.length ? { code: withSwitches(code, here), map: null } : undefined;
    },
  };
  const { config } = await loadConfigFromFile(
    { command: 'serve', mode: 'test' },
    join(ROOT, 'vitest.config.ts'),
  );
  const { projects, ...shared } = config.test;
  const project = ({ test }) => ({
    plugins: [...config.plugins, switches],
    test: {
      ...shared,
      ...test,
      maxWorkers: 2,
      setupFiles: [...test.setupFiles, 'test/setup/mutants.ts'],
      globalSetup: [...shared.globalSetup, ...test.globalSetup],
    },
  });
  let ended = [];
  let stopping;
  const stop = () => {
    stopping ??= vitest.cancelCurrentRun('test-failure');
  };
  const vitest = await createVitest('test', {
    root: ROOT,
    config: false,
    watch: false,
    sequence: { sequencer: AsGiven },
    reporters: [
      {
        onTestCaseResult: (test) => test.ok() || stop(),
        onTestModuleEnd(file) {
          ended.push(file);
          if (!file.ok()) stop();
        },
      },
    ],
    projects: projects.map(project),
  });
  await vitest.standalone();

  /** Runs files until the first failure or the time limit. */
  async function run(files, limitMs, id = 'none') {
    ended = [];
    stopping = undefined;
    process.env['MUTANT'] = id;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      stop();
      // The second cancel does not wait for the tests.
      stopping = Promise.all([stopping, vitest.cancelCurrentRun('test-failure')]);
    }, limitMs);
    const { unhandledErrors } = await vitest.runTestSpecifications(files);
    clearTimeout(timer);
    await stopping;
    const failed = ended.filter((file) => !file.ok());
    return { ended, failed, isLate, isKilled: isLate || failed.length > 0 || unhandledErrors.length > 0 };
  }
  const all = await vitest.globTestSpecifications();
  const laneOf = ({ project: { name }, moduleId }) =>
    name === 'system' ? relative(ROOT, moduleId).split('/')[1] : name;
  const filesOf = (lanes) => all.filter((file) => lanes.includes(laneOf(file)));
  return { filesOf, run, close: () => vitest.close() };
}

/** The time limit of a run with a mutant, based on the time without one. */
const limitOf = (files) => 15_000 + 3 * files.reduce((sum, { ms }) => sum + ms, 0);

/** The files of these lanes, fastest first, and the mutants whose code each of them executes. */
async function measured(vitest, lanes) {
  const specs = vitest.filesOf(lanes);
  const { ended, failed } = await vitest.run(specs, 2 ** 31 - 1);
  if (failed.length)
    throw new Error(`tests that fail without a mutant: ${failed.map(({ moduleId }) => moduleId)}`);
  return ended
    .map((file) => ({
      spec: specs.find(({ moduleId }) => moduleId === file.moduleId),
      name: basename(file.moduleId, '.test.ts'),
      ms: file.diagnostic().duration,
      met: file.meta().met,
    }))
    .toSorted((one, other) => one.ms - other.ms);
}

/** The mutants that no test in these files detects. */
async function survivors(vitest, files, mutants) {
  const alive = [];
  for (const mutant of mutants) {
    const { id, file } = mutant;
    // Files share modules, so code that runs while they are loaded may be recorded for any file.
    const isShared = files.some(({ met }) => met.onLoading.includes(id));
    const relevant = files.filter(({ met }) => isShared || met.inTests.includes(id));
    const isNamesake = ({ name }) => Number(name === basename(file).replace(/\.tsx?$/, ''));
    relevant.sort((one, other) => isNamesake(other) - isNamesake(one));
    const { isKilled, isLate } = relevant.length
      ? await vitest.run(
          relevant.map(({ spec }) => spec),
          limitOf(relevant),
          String(id),
        )
      : { isKilled: false };
    if (!isKilled) alive.push({ ...mutant, isMet: relevant.length > 0 || mutant.isMet });
    process.stderr.write(isLate ? 't' : isKilled ? '.' : '!');
  }
  process.stderr.write('\n');
  return alive;
}

const inOneLine = (text) => {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 70 ? `${line.slice(0, 40)} … ${line.slice(-25)}` : line;
};
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string', default: '1' }, count: { type: 'string', default: '30' } },
});
let id = 0;
const parts = positionals.map((given) => {
  const path = relative(ROOT, given);
  const layer = LAYERS[path.split('/')[1]];
  if (!layer) throw new Error(`no tests are defined for ${path}: use a path in src/{${Object.keys(LAYERS)}}`);
  return {
    ...layer,
    path,
    mutants: drawn(mutantsOf(path), values).map((mutant) => ({ ...mutant, id: id++ })),
  };
});
const filesOf = {};
const vitest = await startVitest(parts.flatMap(({ mutants }) => mutants));
let isBelow = false;
for (const { path, lanes, aim, mutants } of parts) {
  console.log(`\n${path}: ${mutants.length} mutants, seed ${values.seed}`);
  let alive = mutants;
  for (const step of lanes) {
    if (!alive.length) break;
    filesOf[step] ??= await measured(vitest, step);
    alive = await survivors(vitest, filesOf[step], alive);
  }
  for (const { file, code, start, end, after, isMet } of alive) {
    const line = code.slice(0, start).split('\n').length;
    console.log(
      `${file}:${line}  ${inOneLine(code.slice(start, end))}  →  ${inOneLine(after)}${isMet ? '' : '  (no test runs it)'}`,
    );
  }
  const share = (100 * (mutants.length - alive.length)) / mutants.length;
  console.log(`${path}: ${share.toFixed(0)} % detected, the target is ${aim} %`);
  isBelow ||= share < aim;
}
await vitest.close();
// Set last, because a mutant may have changed it.
process.exitCode = Number(isBelow);
