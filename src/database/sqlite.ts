import { type DatabaseClient, doubleQuoted } from './client.ts';

/** @param file the path of the database */
export function sqlite(file: string): DatabaseClient {
  return {
    files: ['sqlite3'],
    // A name that begins with a dash is not an option.
    args: ['-batch', '-readonly', '-json', file.startsWith('-') ? `./${file}` : file],
    packageName: 'sqlite3',
    begin: '.bail on\n.timeout 500\nBEGIN;',
    end: 'COMMIT;',
    schema:
      "SELECT m.name AS t, p.name AS c, p.pk > 0 AS k FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite!_%' ESCAPE '!';",
    echo: (line) => `.print ${JSON.stringify(line)}`,
    count: (table) => `SELECT count(*) AS n FROM ${doubleQuoted(table)};`,
    select: (table, _, hasKey) =>
      `SELECT ${hasKey ? '' : 'rowid AS "rowid", '}* FROM ${doubleQuoted(table)};`,
  };
}
