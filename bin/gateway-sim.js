#!/usr/bin/env node
const { problem } = require('./node-version.js');

if (problem) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 2;
} else run();

function run() {
  const { existsSync } = require('node:fs');
  const { enableCompileCache } = require('node:module');
  const { join } = require('node:path');

  const program = join(__dirname, '..', 'dist', 'main.cjs');
  if (!existsSync(program)) {
    process.stderr.write('gateway-sim: this clone is not built\n  Build it with: npm run build\n');
    process.exitCode = 1;
    return;
  }
  // Since Node 22.8. It takes a fifth off the time of a start.
  if (enableCompileCache) enableCompileCache();
  require(program).main(process.argv);
}
