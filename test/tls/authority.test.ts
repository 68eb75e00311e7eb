import { createHash, generateKeyPairSync, type KeyObject, sign, X509Certificate } from 'node:crypto';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { storedAuthority } from '../../src/tls/authority.ts';
import { type Issued, issue } from '../../src/tls/certificates.ts';
import {
  bits,
  bytesOf,
  decode,
  encode,
  octets,
  type Part,
  sequence,
  tagged,
  time,
} from '../../src/tls/der.ts';
import { LOOPBACK_NAMES } from '../helpers/certificates.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const DAY_MS = 24 * 3_600_000;
const NOW = Date.now();

/** The folder with the files, as if they had been made there. */
async function folderWith({ ca, cert, key }: Issued): Promise<string> {
  const folder = join(await temporaryFolder(), 'tls');
  await mkdir(folder);
  for (const [name, text] of Object.entries({ ca, cert, key })) {
    await writeFile(join(folder, `${name}.pem`), text, { mode: name === 'key' ? 0o600 : 0o644 });
  }
  await madeIn(folder, (ino, ctimeNs) => `${ino} ${ctimeNs}`);
  return folder;
}

async function madeIn(folder: string, mark: (ino: bigint, ctimeNs: bigint) => string): Promise<void> {
  const { ino, ctimeNs } = await stat(join(folder, 'key.pem'), { bigint: true });
  await writeFile(join(folder, 'made-in'), mark(ino, ctimeNs));
}

const start = (folder: string, now = NOW, names = LOOPBACK_NAMES) =>
  storedAuthority(join(folder, '..'), names, now);
const caIn = (folder: string) => readFile(join(folder, 'ca.pem'), 'utf8');

const parts = (part: Part | undefined) => (Array.isArray(part?.value) ? part.value : []);
const publicKeyOf = (key: KeyObject) => key.export({ type: 'spki', format: 'der' });

/** Places in what is signed of a certificate. */
const VALIDITY = 4;
const KEY = 6;
const EXTENSIONS = 7;

type Change = (signed: Part[], extensions: Part[]) => void;

/** An authority like ours, of somebody who has its key: with changes in what is signed of the authority and of the certificate. */
function byAnother(inAuthority: Change = () => {}, inCertificate: Change = () => {}): Issued {
  const made = issue(LOOPBACK_NAMES, NOW);
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keyId = bytesOf(createHash('sha1').update(publicKeyOf(authority.publicKey)).digest());
  const again = (text: string, key: KeyObject, ownId: Part, change: Change) => {
    const [signed, algorithm] = parts(decode(new X509Certificate(text).raw));
    const list = parts(signed);
    list[KEY] = decode(publicKeyOf(key));
    const extensions = parts(parts(list[EXTENSIONS])[0]);
    parts(extensions.at(-1))[1] = octets(bytesOf(encode(ownId)));
    change(list, extensions);
    if (!signed || !algorithm) throw new Error('no certificate');
    const signature = sign('sha256', encode(signed), authority.privateKey);
    const der = encode(sequence(signed, algorithm, bits(bytesOf(signature))));
    return new X509Certificate(der).toString();
  };
  return {
    ca: again(made.ca, authority.publicKey, octets(keyId), inAuthority),
    cert: again(made.cert, server.publicKey, sequence(tagged(0, keyId)), inCertificate),
    key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** Which extension has this number, by its bytes. */
const indexOf = (extensions: Part[], id: string) =>
  extensions.findIndex((one) => encode(one).includes(Buffer.from(id, 'hex')));
const CONSTRAINTS = '0603551d1e';
const BASIC = '0603551d13';

const years = (signed: Part[]) => {
  signed[VALIDITY] = sequence(time(new Date(NOW - DAY_MS)), time(new Date(NOW + 3_650 * DAY_MS)));
};

describe('an authority that lies in the data folder', () => {
  it('is used again where it is as we make them, and nothing is said', async () => {
    for (const issued of [issue(LOOPBACK_NAMES, NOW), byAnother()]) {
      const folder = await folderWith(issued);
      expect(await start(folder)).toMatchObject({ key: issued.key, cert: issued.cert, notice: null });
      expect(await caIn(folder)).toBe(issued.ca);
    }
  });

  const other = issue([...LOOPBACK_NAMES, 'bank.example'], NOW);
  const ours = issue(LOOPBACK_NAMES, NOW);
  const NOT_OURS = 'the former one was not made here';

  it.each<[string, Issued, string]>([
    [
      'may vouch for any name',
      byAnother((_, list) => void list.splice(indexOf(list, CONSTRAINTS), 1)),
      NOT_OURS,
    ],
    [
      'may vouch for other names',
      byAnother((_, list) => {
        const wider = parts(decode(new X509Certificate(other.ca).raw));
        const extensions = parts(parts(parts(wider[0])[EXTENSIONS])[0]);
        const at = indexOf(list, CONSTRAINTS);
        list.splice(at, 1, ...extensions.slice(at, at + 1));
      }),
      NOT_OURS,
    ],
    ['has an extension more', byAnother((_, list) => void list.unshift(list[1] as Part)), NOT_OURS],
    ['is valid for years', byAnother(years), NOT_OURS],
    ['vouches for years', byAnother(undefined, years), NOT_OURS],
    [
      'made an authority of its certificate',
      byAnother(undefined, (_, list) => {
        const at = indexOf(list, BASIC);
        const [authority] = parts(
          parts(parts(parts(decode(new X509Certificate(ours.ca).raw))[0])[EXTENSIONS])[0],
        );
        list.splice(at, 1, authority as Part);
      }),
      NOT_OURS,
    ],
    ['has another one behind it in its file', { ...ours, ca: ours.ca + other.ca }, NOT_OURS],
    ['has another one behind its certificate', { ...ours, cert: ours.cert + other.ca }, NOT_OURS],
    ['did not issue the certificate', { ...ours, ca: issue(LOOPBACK_NAMES, NOW).ca }, NOT_OURS],
    ['has the key of another certificate', { ...ours, key: other.key }, NOT_OURS],
    ['is for other names', other, 'the names changed'],
    ['is about to expire', issue(LOOPBACK_NAMES, NOW - 80 * DAY_MS), 'the former one expires'],
    ['is of the future', issue(LOOPBACK_NAMES, NOW + DAY_MS), 'the former one is not valid yet'],
    ['is torn', { ...ours, key: 'torn' }, 'the former one is damaged'],
  ])('and %s is made anew, and that is said', async (_, issued, why) => {
    const folder = await folderWith(issued);
    const made = await start(folder);
    const caFile = join(folder, 'ca.pem');
    expect(made.notice).toBe(
      `the local authority is new (${why}): what trusts the former one must trust ${caFile} again`,
    );
    expect(await caIn(folder)).not.toBe(issued.ca);
    expect(await start(folder)).toMatchObject({ key: made.key, notice: null });
    expect((await stat(join(folder, 'key.pem'))).mode & 0o777).toBe(0o600);
  });

  const asRoot = process.getuid?.() === 0;
  const key = (folder: string) => join(folder, 'key.pem');

  it.skipIf(process.platform === 'win32').each<[string, (folder: string) => unknown, string]>([
    [
      'whose key others can read',
      (folder) => chmod(key(folder), 0o640),
      'key.pem: others can read or change it',
    ],
    [
      'whose key is a link',
      async (folder) => {
        await rename(key(folder), `${folder}-key.pem`);
        await symlink(`${folder}-key.pem`, key(folder));
      },
      'key.pem: it is a link',
    ],
    ['whose file is huge', (folder) => truncate(join(folder, 'ca.pem'), 2 ** 20), 'ca.pem: it is too large'],
    ['without a key', (folder) => rm(key(folder)), 'there is no key.pem'],
    [
      'whose key got the number of the file that it is a copy of',
      (folder) => madeIn(folder, (ino, ctimeNs) => `${ino} ${ctimeNs - 1n}`),
      'the former one is a copy',
    ],
    [
      'that names a folder, whose number another one may get',
      async (folder) => writeFile(join(folder, 'made-in'), String((await stat(folder)).ino)),
      'the former one is a copy',
    ],
    ['that does not say where it was made', (folder) => rm(join(folder, 'made-in')), 'there is no made-in'],
    ...(asRoot
      ? [
          [
            'of another user',
            (folder: string) => chown(join(folder, 'ca.pem'), 4_711, 4_711),
            'ca.pem: it belongs to another user',
          ] as [string, (folder: string) => unknown, string],
        ]
      : []),
  ])('%s is not used', async (_, change, why) => {
    const folder = await folderWith(ours);
    await change(folder);
    expect((await start(folder)).notice).toContain(`the local authority is new (${why})`);
    expect((await lstat(key(folder))).isFile()).toBe(true);
  });
});
