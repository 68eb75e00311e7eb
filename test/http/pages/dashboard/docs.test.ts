import { expect, it } from 'vitest';
import { PAGES } from '../../../docs/pages.ts';
import { paid, type Sim, startSim } from '../../../helpers/sim.ts';

const DOCS = '/_sim/ui/docs';
const FILES = Object.keys(PAGES)
  .filter((path) => path.startsWith('src/docs/'))
  .map((path) => path.slice('src/docs/'.length));

const read = async (sim: Sim, path: string) => (await fetch(sim.url + path)).text();
const linksIn = (html: string) => [...html.matchAll(/<a href="([^"]*)"/g)].map(([, to = '']) => to);
const docsIn = (html: string) => linksIn(html).filter((to) => to.startsWith(`${DOCS}/`));

it('the dashboard shows every page of the documentation, with links to existing pages and headings', async () => {
  const sim = await startSim();
  const pages = new Map<string, string>();
  for (const file of FILES) pages.set(`${DOCS}/${file}`, await read(sim, `${DOCS}/${file}`));
  expect(docsIn(await read(sim, DOCS)).sort()).toEqual([...pages.keys()].sort());
  for (const [path, html] of pages) {
    const [, article = ''] = /<article[^>]*>(.*)<\/article>/s.exec(html) ?? [];
    const prose = article.replace(/<pre.*?<\/pre>|<code>.*?<\/code>/gs, '');
    expect([path, article.includes('<h1 id=')]).toEqual([path, true]);
    expect([path, /(^#|```|\*\*|\]\(|&amp;lt;|<!--|undefined).{0,40}/m.exec(prose)?.[0]]).toEqual([
      path,
      undefined,
    ]);
    for (const to of linksIn(article).filter((link) => !link.startsWith('http'))) {
      const { pathname, hash } = new URL(to, sim.url + path);
      const target = pages.get(pathname);
      expect([path, to, target?.includes(`id="${hash.slice(1)}"`)]).toEqual([
        path,
        to,
        hash ? true : target && false,
      ]);
    }
  }
});

it('the list of pages is in groups by what readers want to do', async () => {
  const html = await read(await startSim(), DOCS);
  const groups = [...html.matchAll(/<h2 id="[^"]*">([^<]*)<\/h2>/g)].map(([, group]) => group);
  expect(groups.length).toBeGreaterThan(5);
  expect([groups[0], groups.at(-1)]).toEqual([expect.stringMatching(/^Start here/), 'Reference']);
});

it('long pages begin with their contents', async () => {
  const sim = await startSim();
  const contentsOf = async (file: string) =>
    linksIn(/<nav aria-label="Contents">.*?<\/nav>/s.exec(await read(sim, `${DOCS}/${file}`))?.[0] ?? '');
  const audit = await contentsOf('audit.md');
  expect(audit).toContain('#in-ci');
  expect(audit.length).toBeGreaterThan(5);
  expect(await contentsOf('cards.md')).toEqual([]);
});

it('a search links to the headings that it finds', async () => {
  const sim = await startSim();
  const found = docsIn(await read(sim, `${DOCS}?q=signature`));
  expect(found.length).toBeGreaterThan(1);
  const [path = ''] = found;
  const [file, hash] = path.split('#');
  const html = await read(sim, file ?? '');
  expect(html).toContain(`id="${hash}"`);
});

it('a search without a result says so', async () => {
  expect(await read(await startSim(), `${DOCS}?q=xyzzy`)).toContain('No page has all of these words.');
});

it('pages and verdicts of the dashboard link to the documentation that explains them', async () => {
  const sim = await startSim();
  const { delivery: ipn } = await paid(sim);
  const explained = {
    '': 'initiate.md',
    [`/ui/ipns/${ipn?.id}`]: 'receive-and-verify.md',
    '/ui/faults': 'faults.md',
    '/ui/cards': 'cards.md',
    '/ui/customers': 'checkout.md',
    '/ui/settings': 'configuration.md',
  };
  for (const [path, file] of Object.entries(explained))
    expect([path, docsIn(await read(sim, `/_sim${path}`))]).toEqual([
      path,
      expect.arrayContaining([`${DOCS}/${file}`]),
    ]);
  expect(Object.values(explained).filter((file) => !FILES.includes(file))).toEqual([]);
});

it.each(['nothing.md', '..%2F..%2Fpackage.json', 'stacks'])(
  'the documentation has no page %s',
  async (file) => {
    const sim = await startSim();
    const answer = await fetch(`${sim.url}${DOCS}/${file}`);
    expect(await answer.text()).not.toContain('devDependencies');
    expect(answer.status).toBe(404);
  },
);
