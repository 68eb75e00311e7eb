import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, runJson, start } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';

interface Document {
  openapi: string;
  servers: { url: string }[];
}

test('openapi prints the same document without a running emulator', async () => {
  const cwd = await temporaryFolder();
  const { code, stdout, stderr } = await run(['openapi'], { cwd });
  expect([code, stderr]).toEqual([0, '']);
  const document = JSON.parse(stdout) as Document;
  expect(document.servers).toEqual([{ url: 'http://127.0.0.1:4477' }]);
  const { body } = await runJson<Document>(['openapi'], { cwd });
  expect(body).toEqual(document);
  const { ready } = await start(['--in-memory'], { cwd });
  const answered = (await (await fetch(`${ready.url}/_sim/openapi.json`)).json()) as Document;
  expect({ ...answered, servers: [] }).toEqual({ ...document, servers: [] });
});

test('openapi --out writes a file for the address in --url', async () => {
  const cwd = await temporaryFolder();
  const args = ['openapi', '--out', 'api.json', '--url', 'https://pay.example.test/'];
  const { code, stdout } = await run(args, { cwd });
  expect([code, stdout]).toEqual([0, 'wrote api.json\n']);
  const document = JSON.parse(await readFile(join(cwd, 'api.json'), 'utf8')) as Document;
  expect(document.servers).toEqual([{ url: 'https://pay.example.test' }]);
});
