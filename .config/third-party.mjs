// A plugin for Rolldown: writes the licences of the bundled packages, which must be distributed with their code, and a
// bill of materials in the CycloneDX format.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const thirdParty = {
  name: 'third-party',
  generateBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap(({ moduleIds = [] }) => moduleIds);
    const folders = new Set(modules.filter((path) => path.includes('node_modules')).map(packageFolder));
    const packages = [...folders].sort().map((folder) => ({ folder, ...manifestIn(folder) }));
    const licences = packages.map(licenseOf).join(`\n${'-'.repeat(80)}\n`);
    const bill = {
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      version: 1,
      metadata: { component: componentOf('application', manifestIn('.')) },
      components: packages.map((one) => componentOf('library', one)),
    };
    this.emitFile({ type: 'asset', fileName: 'licenses.txt', source: licences });
    this.emitFile({ type: 'asset', fileName: 'sbom.cdx.json', source: JSON.stringify(bill, null, 2) });
  },
};

const manifestIn = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** The nearest package.json with a version: some only set the module type of a folder. */
function packageFolder(path) {
  const folder = dirname(path);
  const isPackage = existsSync(join(folder, 'package.json')) && manifestIn(folder).version;
  return isPackage ? folder : packageFolder(folder);
}

function licenseOf({ folder, name, version, license }) {
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} has no licence file`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}

function componentOf(type, { name, version, license }) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  // A choice of licences is an expression, such as `(BSD-3-Clause OR GPL-2.0)`.
  const licenses = [/\s/.test(license) ? { expression: license } : { license: { id: license } }];
  return { type, 'bom-ref': purl, name, version, purl, licenses };
}
