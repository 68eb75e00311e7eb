import { createPrivateKey, X509Certificate } from 'node:crypto';
import { truncate, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isFor, issue, VALID_DAYS } from '../../src/tls/certificates.ts';
import { addressName, namedPair, planIdentity } from '../../src/tls/identity.ts';
import { LOOPBACK_NAMES, writePair } from '../helpers/certificates.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const NAMES = [...LOOPBACK_NAMES, 'pay.example.com', '192.168.1.20', 'fd00::a:1'];
const DAY_MS = 24 * 3_600_000;

describe('an authority', () => {
  const now = Date.now();
  const issued = issue(NAMES, now);
  const ca = new X509Certificate(issued.ca);
  const leaf = new X509Certificate(issued.cert);

  it('issues and verifies one certificate for all names', () => {
    expect(NAMES.filter((name) => leaf.checkHost(name) ?? leaf.checkIP(name))).toEqual(NAMES);
    expect([isFor(leaf, NAMES.toReversed()), isFor(leaf, NAMES.slice(1)), isFor(leaf, [])]).toEqual([
      ...[true, false, false],
    ]);
    expect([ca.ca, leaf.ca]).toEqual([true, false]);
    expect(leaf.checkIssued(ca) && leaf.verify(ca.publicKey)).toBe(true);
    expect(leaf.checkPrivateKey(createPrivateKey(issued.key))).toBe(true);
    expect(leaf.checkPrivateKey(createPrivateKey(issue(NAMES, now).key))).toBe(false);
  });

  it('is valid for 90 days, starting an hour ago', () => {
    for (const { validFrom, validTo } of [ca, leaf]) {
      const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
      expect(to - from).toBeLessThanOrEqual(VALID_DAYS * DAY_MS);
      expect(to - now).toBeGreaterThan((VALID_DAYS - 1) * DAY_MS);
      expect(now - from).toBeGreaterThanOrEqual(3_600_000);
    }
  });

  it('has critical name constraints that allow only its names', () => {
    // The identifier 2.5.29.30, then TRUE, then the octets of the list.
    const at = ca.raw.indexOf(Buffer.from('0603551d1e0101ff04', 'hex'));
    expect(at).toBeGreaterThan(0);
    const list = ca.raw.subarray(at, at + 10 + (ca.raw[at + 9] ?? 0));
    expect(list.includes('localhost') && list.includes('pay.example.com')).toBe(true);
    // An address is followed by its mask.
    for (const address of ['7f000001ffffffff', 'c0a80114ffffffff', `${'0'.repeat(31)}1${'f'.repeat(32)}`])
      expect(list.includes(Buffer.from(address, 'hex'))).toBe(true);
    expect(leaf.raw.includes(Buffer.from('0603551d1e', 'hex'))).toBe(false);
  });
});

it.each([
  ['::1', '0'.repeat(31).concat('1')],
  ['::ffff:102:304', `${'0'.repeat(20)}ffff01020304`],
  ['192.168.1.20', 'c0a80114'],
])('the address %s has the bytes %s', (address, hex) => {
  const { raw } = new X509Certificate(issue([address], Date.now()).cert);
  // Its tag is 7.
  expect(raw.toString('hex')).toContain(`87${(hex.length / 2).toString(16).padStart(2, '0')}${hex}`);
});

it.each([
  ['FD00:0:0:0:0:0:A:1', 'fd00::a:1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['::ffff:1.2.3.4', '::ffff:102:304'],
])('the name of %s is %s', (written, name) => {
  expect(addressName(written)).toBe(name);
});

describe('a pair of files', () => {
  it('is trusted through its own file if that contains the issuer', async () => {
    const folder = await temporaryFolder();
    const { cert, key } = await writePair(folder, 'own');
    const pair = await namedPair({ tlsCert: cert, tlsKey: key }, String);
    expect(pair).toMatchObject({ certFile: cert, issuer: null });
  });

  it.each([
    ['own.pem', 'other-key.pem', /does not belong to the certificate/],
    ['own.pem', 'none.pem', /tlsKey cannot be read from .*none\.pem: there is no such file/],
    ['own-key.pem', 'own-key.pem', /tlsCert must name a PEM file with a certificate/],
    ['/dev/null', 'own-key.pem', /tlsCert cannot be read from .*: it is not a regular file/],
  ])('%s with %s is rejected with the reason', async (cert, key, why) => {
    const folder = await temporaryFolder();
    await writePair(folder, 'own');
    await writePair(folder, 'other');
    await writeFile(join(folder, 'huge.pem'), '');
    await truncate(join(folder, 'huge.pem'), 2 ** 30);
    const files = { tlsCert: resolve(folder, cert), tlsKey: join(folder, key) };
    await expect(namedPair(files, String)).rejects.toThrow(why);
  });

  it.each([
    [{ tlsCert: 'a.pem', tlsKey: undefined }, 'tlsCert requires tlsKey'],
    [{ tlsCert: undefined, tlsKey: 'a.pem' }, 'tlsKey requires tlsCert'],
  ])('%j is not a valid pair', async (given, why) => {
    await expect(namedPair(given, String)).rejects.toThrow(why);
  });

  it('is used with a notice if it is for another host or expired', async () => {
    const folder = await temporaryFolder();
    const { cert, key } = await writePair(folder, 'old', ['shop.example'], Date.now() - 200 * DAY_MS);
    const options = { tlsCert: cert, tlsKey: key, host: '127.0.0.1' };
    const { notices } = await (await planIdentity(options, ['shop.example'], String))(null);
    expect(notices).toEqual([
      expect.stringContaining(
        'does not cover localhost, 127.0.0.1, ::1: clients will reject it for these names',
      ),
      expect.stringContaining('expired at'),
    ]);
  });
});
