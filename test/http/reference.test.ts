import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Document } from '../helpers/contract.ts';
import { startSim } from '../helpers/sim.ts';

const PATH = '/_sim/ui/reference';
const SCHEMAS = '/_sim/ui/schemas';

function isInstalled(command: string): boolean {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Text of HTML as a browser would show it. */
function plain(html: string): string {
  return html
    .replace(/<[^>]*>/g, '')
    .replace(/&#39;|&quot;|&lt;|&gt;|&amp;/g, (entity) => ENTITIES[entity] ?? entity);
}
const ENTITIES: Readonly<Record<string, string>> = {
  '&#39;': "'",
  '&quot;': '"',
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
};

/** The command below an operation. */
function commandOf(html: string, operationId: string): string {
  const article = html.slice(html.indexOf(`<article id="${operationId}"`)).split('</article>', 1)[0] ?? '';
  return plain(article.split('<h4>Try it</h4>')[1] ?? '');
}

describe('the API reference', () => {
  it('shows every operation and schema of the document, and every link in it leads somewhere', async () => {
    const sim = await startSim();
    const { paths, components } = await sim.control<Document>('/openapi.json');
    const pages = new Map<string, string>();
    for (const path of [PATH, SCHEMAS]) pages.set(path, await (await fetch(sim.url + path)).text());
    const idsOf = (path: string) =>
      [...(pages.get(path) ?? '').matchAll(/ id="([^"]+)"/g)].map(([, id]) => id ?? '');
    const wanted = [
      [
        PATH,
        ...Object.values(paths).flatMap((item) => Object.values(item).map((one) => one.operationId)),
        'ipn',
      ],
      [SCHEMAS, ...Object.keys(components['schemas'] ?? {}).map((name) => `schema-${name}`)],
    ] as const;
    for (const [path, ...ids] of wanted) expect(ids.filter((id) => !idsOf(path).includes(id))).toEqual([]);
    for (const [path, html] of pages) {
      const ids = idsOf(path);
      expect(new Set(ids).size).toBe(ids.length);
      const links = [...html.matchAll(/href="([^"]*)#([^"]+)"/g)];
      const lost = links.filter(([, to, id = '']) => {
        const page = new URL(to ?? '', sim.url + path).pathname;
        return !idsOf(page).includes(id);
      });
      expect(lost.map(([link]) => link)).toEqual([]);
      const levels = [...html.matchAll(/<h(\d)/g)].map(([, level]) => Number(level));
      expect(levels[0]).toBe(1);
      expect(levels.filter((level, index) => level > (levels[index - 1] ?? 0) + 1)).toEqual([]);
      expect(html).not.toMatch(/\b(src|href)="(https?:)?\/\//);
      expect(Buffer.byteLength(html)).toBeLessThan(150_000);
    }
  });

  it('says where a field comes from once, and tells of every error that an operation names', async () => {
    const sim = await startSim();
    const schemas = await (await fetch(sim.url + SCHEMAS)).text();
    const marked = [
      ...schemas.matchAll(/<span class="source (\w+)"[^>]*>\w+<\/span><\/dt><dd><p>(.*?)<\/p>/g),
    ];
    expect(marked.length).toBeGreaterThan(100);
    expect(marked.filter(([, source, text]) => text?.endsWith(`(${source}).`))).toEqual([]);
    const html = await (await fetch(sim.url + PATH)).text();
    const meanings = html.slice(html.indexOf('<section id="errors"'));
    const named = [...html.matchAll(/#errors">Errors<\/a> ([\w, ]+):/g)].flatMap(
      ([, list]) => list?.split(', ') ?? [],
    );
    expect(named.length).toBeGreaterThan(100);
    expect([...new Set(named)].filter((status) => !meanings.includes(`>${status}</span>`))).toEqual([]);
  });

  it('has the public key in its commands and never the secret one', async () => {
    const sim = await startSim({ publicUrl: "http://pay.test/$HOME`'" });
    const html = await (await fetch(sim.url + PATH)).text();
    expect(html).not.toContain(sim.secretKey);
    const initiate = commandOf(html, 'postSandboxPaymentInitiate');
    expect(initiate).toContain(`--data-urlencode 'public_key=${sim.publicKey}'`);
    expect(initiate).toMatch(/^curl -X POST "http:\/\/pay\.test\/\\\$HOME(\\`|%60)/);
    expect(commandOf(html, 'getApiCards')).toContain('-H "Authorization: Bearer $GATEWAY_SIM_SECRET_KEY"');
    expect(commandOf(html, 'getSimStatus')).not.toContain('TOKEN');
  });

  it('names the control token in its commands where it is asked for, and asks for it itself', async () => {
    const sim = await startSim({ host: '0.0.0.0', controlToken: 'a-token-of-ours' });
    expect((await fetch(sim.url + PATH)).status).toBe(401);
    const headers = { Authorization: 'Bearer a-token-of-ours' };
    const html = await (await fetch(sim.url + PATH, { headers })).text();
    expect(commandOf(html, 'getSimStatus')).toContain('Bearer $GATEWAY_SIM_CONTROL_TOKEN');
    expect(html).not.toContain('a-token-of-ours');
  });

  it.skipIf(!isInstalled('curl'))('has commands that do what they say, pasted as they stand', async () => {
    const sim = await startSim({ autoDelay: '1h' });
    const html = await (await fetch(sim.url + PATH)).text();
    const env = { ...process.env, GATEWAY_SIM_SECRET_KEY: sim.secretKey };
    const run = async (operationId: string, more: Record<string, string> = {}) => {
      const command = `${commandOf(html, operationId)} -sS`;
      const { stdout } = await promisify(execFile)('sh', ['-c', command], { env: { ...env, ...more } });
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    expect(await run('postSandboxPaymentInitiate')).toMatchObject({ success: 'ok' });
    expect(await run('getSimPaymentsRef')).toMatchObject({ identifier: 'order-1', status: 'pending' });
    expect(await run('postSimPaymentsRefSettle')).toMatchObject({ payment: { status: 'succeeded' } });
    const created = await run('postApiCardsSave');
    const { id: ID = '' } = created['data'] as { id?: string };
    expect(await run('getApiCardsId', { ID })).toMatchObject({ success: 'ok', data: { id: ID } });
    expect(await run('postSimCardsIdTransactions', { ID })).toMatchObject({ card: { id: ID } });
    expect(await run('postSimClock')).toMatchObject({ frozen: false });
  });
});
