import type { Row } from './changes.ts';

/*
 * The databases of shops, each read by its own client: a program that the shop's developer has, and that knows its
 * versions, sockets and passwords.
 */

/** Runs statements. @returns what they print @throws GatewayError `check_failed`; the client has ended then */
export type Ask = (statements: string) => Promise<string>;

/** A program to run, and how to ask it. It stays open, and ends at the first error. */
export interface DatabaseClient {
  /** Names of the program: the first that is installed is run. */
  files: readonly string[];
  args: readonly string[];
  /** The package that has the program. */
  packageName: string;
  /** Environment variables, in addition to those of this process. */
  env?: Readonly<Record<string, string>>;
  /** Begins a transaction that only reads and waits for nobody. Rows are as of the moment when it resolves. */
  begin: (ask: Ask) => Promise<unknown>;
  /** The statement that ends it. */
  end: string;
  /**
   * Prints `{"t": table, "c": column, "k": whether it is in the primary key, "w": what makes text of it, "l": whether the
   * table has no transactions}` for each column.
   */
  schema: string;
  /** Prints a line. */
  echo: (line: string) => string;
  /** Prints `{"n": the number of rows}`. */
  count: (table: string) => string;
  /** Removes what was made for the readings. */
  close?: () => Promise<void>;
  /** Prints each row of a table as JSON; without a primary key, with its `rowid` if the database has one. */
  select: (table: string, columns: readonly Column[], hasKey: boolean) => string;
}

export interface Column {
  name: string;
  /** The function or type that makes text of its values; empty if they are plain values in JSON. */
  wrap: string;
}

/** Marks the lines that are not rows. No row begins with it: each begins with a brace or a bracket. */
export const MARK = '==';
/** The last line of a response. */
export const END = `${MARK} end`;

/** The rows that a client printed for one query: lines of JSON, or one list. */
export function rowsIn(printed: string): Row[] {
  const body = printed.trim();
  if (body === '') return [];
  return body.startsWith('[') ? JSON.parse(body) : body.split('\n').map((line) => JSON.parse(line));
}

/** A name in the standard's quotation marks. */
export const doubleQuoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
/** A text of SQL. */
export const text = (value: string) => `'${value.replaceAll("'", "''")}'`;
