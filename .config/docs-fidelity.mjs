// Documentation that is generated from the manifest: a page with every line, and tables in handwritten pages.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { code, escaped, table } from './markdown.mjs';

const KINDS = ['documented', 'observed', 'chosen'];

function readLines(root) {
  const text = readFileSync(join(root, 'fixtures/fidelity/manifest.jsonl'), 'utf8');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** A page with every line, by area. */
export function manifestPage(root, { AREAS, PROFILES }) {
  const lines = readLines(root);
  const everywhere = Object.keys(PROFILES).length;
  const sections = Object.entries(AREAS).map(([area, title]) => {
    const rows = lines
      .filter((line) => line.area === area)
      .map(({ id, says, source, profiles }) => [
        code(id),
        escaped(says),
        source.kind,
        escaped(source.where),
        profiles.length === everywhere ? 'all' : profiles.join(', ') || 'by choice',
      ]);
    return `## ${title}\n\n${table(['Line', 'What', 'Source', 'Where it was read, or why', 'Profiles'], rows)}`;
  });
  return [
    '# What is known about the service interface',
    `Each line of \`fixtures/fidelity/manifest.jsonl\` is one observation: ${lines.length} in all. [Fidelity](../fidelity.md) explains their purpose.`,
    ...sections,
  ].join('\n\n');
}

/** The number of lines of each area, by source. */
function areasTable(lines, { AREAS }) {
  const count = (area, kind) =>
    lines.filter((line) => (!area || line.area === area) && line.source.kind === kind).length || '';
  const rows = Object.entries(AREAS).map(([area, title]) => [
    `[${title}](reference/manifest.md#${title.toLowerCase().replaceAll(' ', '-')})`,
    ...KINDS.map((kind) => count(area, kind)),
  ]);
  return table(['Area', ...KINDS], [...rows, ['All', ...KINDS.map((kind) => count(undefined, kind))]]);
}

/** A table with the choices and options of each profile. */
function choicesTable({ CHOICES, PROFILES, choicesOf }) {
  const names = Object.keys(PROFILES);
  const chosen = Object.entries(CHOICES).map(([name, { about }]) => [
    code(name),
    about,
    ...names.map((profile) => code(choicesOf(profile)[name])),
  ]);
  const options = [...new Set(names.flatMap((name) => Object.keys(PROFILES[name].options)))];
  const set = options.map((name) => [
    code(name),
    'an option of `start`',
    ...names.map((profile) => {
      const value = PROFILES[profile].options[name];
      return value === undefined ? '' : code([value].flat().join(' '));
    }),
  ]);
  return table(['Choice', 'What', ...names.map(code)], [...chosen, ...set]);
}

function scoreOf(lines, profile) {
  const own = lines.filter(({ profiles }) => profiles.includes(profile));
  const counts = KINDS.map((kind) => `${own.filter(({ source }) => source.kind === kind).length} ${kind}`);
  return `(${own.length} facts: ${counts.join(', ')})`;
}

/**
 * Puts the tables between their markers on the page about fidelity, and the counts in README.md.
 *
 * @param isWanted whether to write them; otherwise, outdated tables are an error
 */
export function insertTables(root, sources, isWanted) {
  const lines = readLines(root);
  const files = {
    'README.md': {},
    'src/docs/fidelity.md': { areas: areasTable(lines, sources), choices: choicesTable(sources) },
  };
  for (const [file, tables] of Object.entries(files)) {
    const path = join(root, file);
    const old = readFileSync(path, 'utf8');
    let text = old;
    for (const [name, made] of Object.entries(tables)) {
      const place = new RegExp(
        `(<!-- ${name}: made by "npm run docs" -->\\n)[\\s\\S]*?(<!-- end of ${name} -->)`,
      );
      if (!place.test(text)) throw new Error(`${file} has no place for the table of ${name}`);
      text = text.replace(place, (_, begin, end) => `${begin}\n${made}\n\n${end}`);
    }
    // The banner in "The first minute" shows the counts, too.
    text = text.replace(/\(\d+ facts: [^)]*\)/, () => scoreOf(lines, 'document'));
    if (text === old) continue;
    if (!isWanted) throw new Error(`${file} is not what "npm run docs" makes of it`);
    writeFileSync(path, text);
  }
}
