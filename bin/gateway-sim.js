#!/usr/bin/env node
const { existsSync } = require('node:fs');
const { join } = require('node:path');

const program = join(__dirname, '..', 'dist', 'main.cjs');
if (existsSync(program)) require(program).main(process.argv);
else {
  process.stderr.write('gateway-sim: this clone is not built\n  Build it with: npm run build\n');
  process.exitCode = 1;
}
