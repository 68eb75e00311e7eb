import { builtinModules } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { BINARY } from '../helpers/binary.ts';
import { launchProgram } from '../helpers/child.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const REPORT = fileURLToPath(new URL('../helpers/report-loaded.cjs', import.meta.url));

/** Runs a program until its first output. @returns our files, without the hashes in their names, and Node's own modules */
async function loadedBy(...program: string[]) {
  const cwd = await temporaryFolder();
  const running = launchProgram([process.execPath, '--require', REPORT, ...program], { cwd });
  await running.until((_, stderr) => stderr.endsWith('\n'));
  const { files, nodes } = JSON.parse(running.stderr()) as Record<'files' | 'nodes', string[]>;
  const loaded = nodes.map((name) => name.replace(/^NativeModule /, ''));
  return {
    files: files.map((path) => basename(path).replace(/-[\w-]{8}\.cjs$/, '')).sort(),
    nodes: builtinModules.filter((name) => loaded.includes(name)),
  };
}

/** The files of the program. Rolldown names a chunk after one of its modules. */
const OURS = `
  amount banner body card card-status checkout configuration consistency
  describe-changes describe-delivery fault-effects fidelity field files folder forward
  gateway-sim.js ids ipn ipn-headers main.cjs merchant money names node-version.js package-info
  package.json payment random receiver-answer rolldown-runtime run sample-values secret sender server
  server-file shop-state signals signature signature-code snapshot snapshot-file start
  start-emulator store verdict verify
`
  .trim()
  .split(/\s+/);

/** What a start adds to the modules of Node that an empty program has. A version of Node may have some of them anyway. */
const OF_NODE = `
  _http_agent _http_client _http_common _http_incoming _http_outgoing _http_server
  child_process cluster crypto dgram diagnostics_channel dns fs/promises http net os
  process timers/promises tty
`
  .trim()
  .split(/\s+/);

it(`a start has loaded ${OURS.length} files and at most ${OF_NODE.length} modules of Node when it announces its address`, async () => {
  const empty = await loadedBy('--eval', 'process.stdout.write("")');
  const start = await loadedBy(BINARY, 'start', '--in-memory', '--port', '0', '--quiet');
  expect(start.files).toEqual(OURS);
  const added = start.nodes.filter((name) => !empty.nodes.includes(name));
  expect(added.filter((name) => !OF_NODE.includes(name))).toEqual([]);
});
