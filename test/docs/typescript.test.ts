import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../helpers/child.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { fence, ROOT } from './pages.ts';

const PLACE = 'stacks/express.md: 1. The shop';

/** What the page uses of @types/express, which is not installed here. */
const EXPRESS = `declare module 'express' {
  interface Request { body: string; query: Record<string, unknown>; params: { identifier: string }; socket: { localPort?: number } }
  interface Response { redirect(status: number, url: string): void; status(code: number): this; send(text: string): void; json(value: unknown): void }
  type Route = (path: string, run: (request: Request, response: Response) => unknown) => void;
  interface App { set(name: string, value: string): this; use(step: unknown): void; get: Route; post: Route; listen(port: unknown, run: (error?: Error) => void): void }
  const express: { (): App; text(options: object): unknown };
  export default express;
}`;

test('the shop of the Express page is TypeScript with its three typed lines, and needs no allowJs', async () => {
  const cwd = await temporaryFolder();
  const typed = fence(PLACE, 'typescript');
  const code = typed.split('\n').reduce(
    (text, line) => {
      const [start] = /^const \w+ = /.exec(line) ?? [];
      return start === undefined ? text : text.replace(new RegExp(`^${start}.*$`, 'm'), () => line);
    },
    fence(PLACE, 'javascript').replace('import { initiate', 'import { type Order, initiate'),
  );
  await writeFile(join(cwd, 'shop.mts'), code.replace('// shop.mjs\n', ''));
  await writeFile(join(cwd, 'express.d.ts'), EXPRESS);
  await copyFile(join(ROOT, 'src/init/payments.d.cts'), join(cwd, 'payments.d.cts'));
  const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022'];
  const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')];
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const words = [process.execPath, tsc, ...options, ...types, 'shop.mts', 'express.d.ts'];
  const { stdout } = await runProgram(words, { cwd });
  expect(stdout).toBe('');
});
