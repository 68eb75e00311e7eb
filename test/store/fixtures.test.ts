import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { initialSnapshots } from '../../src/store/fixtures.ts';
import { SNAPSHOT_VERSION } from '../../src/store/snapshot.ts';
import { readSnapshotFile } from '../../src/store/snapshot-file.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { fullSnapshot, merchant, wallet } from '../helpers/records.ts';

const PACKAGED = fileURLToPath(new URL('../../fixtures/default.json', import.meta.url));
const fixturesOf = (own: string | undefined, currencies: string[] = []) =>
  initialSnapshots(own, '--fixtures', currencies);
const CURRENT = { version: SNAPSHOT_VERSION };
const packaged = () => fixturesOf(undefined)();

/** Creates a user's file with this content. */
async function own(content: unknown): Promise<string> {
  const path = join(await temporaryFolder(), 'mine.json');
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

describe('the fixtures of the package', () => {
  it('have one merchant, and a rich and a poor customer with a wallet in each documented currency', async () => {
    const { merchants, wallets } = await packaged();
    expect(merchants).toHaveLength(1);
    for (const email of ['wallet@example.com', 'poor@example.com']) {
      const theirs = wallets.filter((one) => one.email === email).map(({ currency }) => currency);
      expect(theirs.sort()).toEqual(['CFA', 'EUR', 'GNF', 'USD']);
    }
  });

  it('are valid', async () => {
    expect(await readSnapshotFile(PACKAGED)).toEqual(await packaged());
  });
});

describe("a user's own fixtures", () => {
  it('replace the fixtures of the package', async () => {
    const path = await own({ ...CURRENT, merchants: [merchant()], wallets: [wallet()] });
    expect(await fixturesOf(path)()).toMatchObject({
      merchants: [merchant()],
      wallets: [wallet()],
      payments: [],
    });
  });

  it('can be a copy of a db.json, whose id is ignored', async () => {
    const path = await own({ ...fullSnapshot(), id: '0123456789abcdef' });
    expect(await fixturesOf(path)()).toEqual(fullSnapshot());
  });

  it("without merchants or wallets get the package's", async () => {
    const { merchants, wallets } = await packaged();
    const onlyWallets = await own({ ...CURRENT, wallets: [wallet()] });
    expect(await fixturesOf(onlyWallets)()).toMatchObject({ merchants, wallets: [wallet()] });
    const onlyMerchants = await own({ ...CURRENT, merchants: [merchant()] });
    expect(await fixturesOf(onlyMerchants)()).toMatchObject({
      merchants: [merchant()],
      wallets,
    });
  });

  it('can begin with a byte order mark', async () => {
    const path = await own(`\uFEFF${JSON.stringify({ ...CURRENT, merchants: [merchant()] })}`);
    expect((await fixturesOf(path)()).merchants).toEqual([merchant()]);
  });

  it.each([
    ['{"version":', ' is damaged: '],
    [{ wallets: [] }, ' is not a gateway-sim state: it has no version'],
    [{ ...CURRENT, walets: [] }, ': unknown key "walets": did you mean wallets?'],
    [{ ...CURRENT, ['x'.repeat(61)]: [] }, `: unknown key "${'x'.repeat(60)}"`],
    [{ ...CURRENT, wallets: [wallet(), wallet()] }, ': wallets has the id "wal_rich_usd" twice'],
  ])('that are invalid are rejected: %j', async (content, problem) => {
    const path = await own(content);
    const act = fixturesOf(path)();
    await expect(act).rejects.toMatchObject({
      name: 'GatewayError',
      code: 'usage',
      message: expect.stringContaining(`--fixtures: ${path}${problem}`),
      remedy: 'Write a sample fixtures file with: gateway-sim init',
    });
  });

  it('can use the currencies of the options and of their own wallets', async () => {
    const state = fullSnapshot();
    const inNpr = { ...state, payments: state.payments.map((payment) => ({ ...payment, currency: 'NPR' })) };
    const path = join(await temporaryFolder(), 'own.json');
    await writeFile(path, JSON.stringify(inNpr));
    await expect(fixturesOf(path)()).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/--fixtures: .*own\.json: payments "\w+": currency "NPR" is unknown/),
    });
    expect(await fixturesOf(path, ['NPR'])()).toEqual(inNpr);
  });

  it('that do not exist are rejected', async () => {
    const path = join(await temporaryFolder(), 'none.json');
    await expect(fixturesOf(path)()).rejects.toMatchObject({
      code: 'usage',
      message: `--fixtures: ${path} does not exist`,
    });
  });

  it('are read only once, even if the file changes later', async () => {
    const path = await own({ ...CURRENT, wallets: [wallet({ balance: '1' })] });
    const initial = fixturesOf(path);
    await initial();
    await writeFile(path, 'gone');
    expect((await initial()).wallets).toEqual([wallet({ balance: '1' })]);
  });

  it('are read again after they have been rejected', async () => {
    const path = await own('not yet');
    const initial = fixturesOf(path);
    await expect(initial()).rejects.toMatchObject({ code: 'usage' });
    await writeFile(path, await readFile(PACKAGED, 'utf8'));
    expect(await initial()).toEqual(await packaged());
  });
});
