import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayError } from '../contract/error.ts';
import { performance } from '../system/real-time.ts';
import { makeTemporaryFolder, removeTemporaryFolder } from '../system/temporary-folder.ts';
import { type DatabaseClient, doubleQuoted, text } from './client.ts';
import { LIMIT_MS, printedBy, unreadable } from './run-client.ts';

/** Far more than are needed while a program writes without a break (chosen). */
const MAX_COPIES = 100;

const PROGRAM = { files: ['sqlite3'], packageName: 'sqlite3' };

/**
 * The client of a copy of a database. The file itself is never locked, because a reader's lock makes writers fail that do
 * not wait, as in PHP and Bun by default.
 *
 * @param file the path of the database
 * @throws GatewayError `check_failed` if it cannot be copied; `usage` if the client is not installed
 */
export async function openSqlite(file: string): Promise<DatabaseClient> {
  const folder = await makeTemporaryFolder().catch((error: Error) => {
    throw unreadable(`it cannot be copied: ${error.message}`, error);
  });
  const close = () => removeTemporaryFolder(folder);
  try {
    const copy = join(folder, 'copy.db');
    await copySqlite(file, copy);
    return { ...clientOfCopy(copy), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Copies a database as of one moment, without a lock: the file, its rollback journal and its write-ahead log. If they are
 * still the same after the last one was copied, the copy is what a crash at that moment would leave, and SQLite opens it
 * without what was not committed.
 *
 * The files are opened by another process: if this one closed them, it would release the locks of a shop that runs in it
 * (sqlite.org/howtocorrupt.html, section 2.2).
 */
async function copySqlite(file: string, copy: string): Promise<void> {
  await access(file, constants.R_OK).catch((error: Error) => {
    throw unreadable(error.message, error);
  });
  const contents = (path: string) => `coalesce(readfile(${text(path)}), x'')`;
  const log = contents(`${copy}-wal`);
  const input = [
    '.bail on',
    ...['', '-journal', '-wal'].map(
      (suffix) => `SELECT 1 WHERE writefile(${text(copy + suffix)}, ${contents(file + suffix)}) IS NULL;`,
    ),
    `SELECT 'same' WHERE ${contents(file)} = ${contents(copy)}`,
    `AND ${contents(`${file}-journal`)} = ${contents(`${copy}-journal`)}`,
    // More may be appended to the log. A part of an empty one is NULL.
    `AND coalesce(substr(${contents(`${file}-wal`)}, 1, length(${log})), x'') = ${log};`,
    '',
  ].join('\n');
  const client = { ...PROGRAM, args: ['-batch', '-list', '-noheader'], input };
  const end = performance.now() + LIMIT_MS;
  let problem = unreadable(`${file} changed each time while it was copied`);
  for (let count = 0; count < MAX_COPIES; count++) {
    try {
      if ((await printedBy(client)).trim() === 'same') return;
    } catch (error) {
      // A file that becomes shorter while it is read is an error, too.
      const isOften = error instanceof GatewayError && error.code === 'check_failed';
      if (!isOften || performance.now() > end) throw error;
      problem = error;
    }
  }
  throw problem;
}

const clientOfCopy = (copy: string): DatabaseClient => ({
  ...PROGRAM,
  args: ['-batch', '-json', copy],
  begin: '.bail on\nPRAGMA synchronous = OFF;\nBEGIN;',
  end: 'COMMIT;',
  schema:
    "SELECT m.name AS t, p.name AS c, p.pk > 0 AS k FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite!_%' ESCAPE '!';",
  echo: (line) => `.print ${JSON.stringify(line)}`,
  count: (table) => `SELECT count(*) AS n FROM ${doubleQuoted(table)};`,
  select: (table, _, hasKey) => `SELECT ${hasKey ? '' : 'rowid AS "rowid", '}* FROM ${doubleQuoted(table)};`,
});
