import { type DatabaseClient, doubleQuoted, text } from './client.ts';

export function postgres(url: string): DatabaseClient {
  return {
    files: ['psql'],
    args: ['-X', '-A', '-t', '-q', '-w', '-v', 'ON_ERROR_STOP=1', '-d', url],
    packageName: 'postgresql-client',
    env: { PGCONNECT_TIMEOUT: '5', PGAPPNAME: 'gateway-sim' },
    begin: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL lock_timeout = 500;',
    end: 'COMMIT;',
    schema: `SELECT json_build_object('t', c.relname, 'c', a.attname, 'k', coalesce(a.attnum = ANY (i.indkey), false))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname = ANY (current_schemas(false)) ORDER BY c.relname, a.attnum;`,
    echo: (line) => `\\echo ${text(line)}`,
    count: (table) => `SELECT json_build_object('n', count(*)) FROM ${doubleQuoted(table)};`,
    select: (table) => `SELECT row_to_json(one)::jsonb FROM ${doubleQuoted(table)} one;`,
  };
}
