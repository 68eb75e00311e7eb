import { access, constants } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { performance } from '../system/real-time.ts';
import { makeTemporaryFolder, removeTemporaryFolder } from '../system/temporary-folder.ts';
import { type Ask, type DatabaseClient, doubleQuoted, text } from './client.ts';
import { LIMIT_MS, unreadable } from './run-client.ts';

/** Far more than are needed while a program writes without a break (chosen). */
const MAX_COPIES = 100;

/**
 * The client of a copy of a database. The file itself is never locked, because a reader's lock makes writers fail that do
 * not wait, as in PHP and Bun by default.
 *
 * @param file the path of the database
 * @throws GatewayError `check_failed` if it cannot be read or copied
 */
export async function openSqlite(file: string): Promise<DatabaseClient> {
  await access(dirname(file)).catch((error: Error) => {
    throw unreadable(`there is no folder ${dirname(file)}: ${error.message}`);
  });
  await access(file, constants.R_OK).catch((error: Error) => {
    throw unreadable(error.message, error);
  });
  const folder = await makeTemporaryFolder().catch((error: Error) => {
    throw unreadable(`it cannot be copied: ${error.message}`, error);
  });
  const copy = join(folder, 'copy.db');
  return {
    files: ['sqlite3'],
    packageName: 'sqlite3',
    args: ['-batch', '-json', ':memory:'],
    begin: async (ask) => {
      await copySqlite(file, copy, ask);
      await ask(`.open ${JSON.stringify(copy)}\nPRAGMA synchronous = OFF;\nBEGIN;`);
    },
    // The copy is closed before it is replaced.
    end: 'COMMIT;\n.open ":memory:"',
    close: () => removeTemporaryFolder(folder),
    schema:
      "SELECT m.name AS t, p.name AS c, p.pk > 0 AS k FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite!_%' ESCAPE '!';",
    echo: (line) => `.print ${JSON.stringify(line)}`,
    count: (table) => `SELECT count(*) AS n FROM ${doubleQuoted(table)};`,
    select: (table, _, hasKey) =>
      `SELECT ${hasKey ? '' : 'rowid AS "rowid", '}* FROM ${doubleQuoted(table)};`,
  };
}

/**
 * Copies a database as of one moment, without a lock: the file, its rollback journal and its write-ahead log. If they are
 * still the same after the last one was copied, the copy is what a crash at that moment would leave, and SQLite opens it
 * without what was not committed.
 *
 * The files are opened by another process: if this one closed them, it would release the locks of a shop that runs in it
 * (sqlite.org/howtocorrupt.html, section 2.2).
 */
async function copySqlite(file: string, copy: string, ask: Ask): Promise<void> {
  const contents = (path: string) => `coalesce(readfile(${text(path)}), x'')`;
  const log = contents(`${copy}-wal`);
  const statements = [
    // A file that becomes shorter while it is read is an error.
    '.bail off',
    ...['', '-journal', '-wal'].map(
      (suffix) =>
        `SELECT 'lost' AS lost WHERE writefile(${text(copy + suffix)}, ${contents(file + suffix)}) IS NULL;`,
    ),
    `SELECT 1 AS same WHERE ${contents(file)} = ${contents(copy)}`,
    `AND ${contents(`${file}-journal`)} = ${contents(`${copy}-journal`)}`,
    // More may be appended to the log. A part of an empty one is NULL.
    `AND coalesce(substr(${contents(`${file}-wal`)}, 1, length(${log})), x'') = ${log};`,
    '.bail on',
  ].join('\n');
  const end = performance.now() + LIMIT_MS;
  for (let count = 0; count < MAX_COPIES && performance.now() < end; count++) {
    const printed = await ask(statements);
    if (printed.includes('"lost"')) throw unreadable(`${file} cannot be copied to ${copy}`);
    if (printed.includes('"same"')) return;
  }
  throw unreadable(`${file} changed each time while it was copied`);
}
