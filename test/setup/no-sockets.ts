import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { Server, Socket } from 'node:net';

// A unit test that needs one of these belongs in another lane (test/lanes.ts).
function refuse(what: string): () => never {
  return () => {
    throw new Error(`${what} in the unit lane`);
  };
}

Server.prototype.listen = refuse('a server');
Socket.prototype.connect = refuse('a socket');
for (const name of ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'] as const) {
  Object.assign(childProcess, { [name]: refuse('a process') });
}
syncBuiltinESMExports();
