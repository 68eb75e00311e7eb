// Loaded into an emulator before any other code (NODE_OPTIONS=--require). Each wait for the disk begins later, by up to
// SYNC_DELAY_MS.
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');

for (const name of ['fdatasync', 'fsync']) {
  const { [name]: real } = fs;
  fs[name] = (fd, done) =>
    void setTimeout(() => real(fd, done), Math.random() * Number(process.env.SYNC_DELAY_MS));
}

syncBuiltinESMExports();
