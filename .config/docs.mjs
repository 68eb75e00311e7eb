// Generates src/docs/reference from the program, and tables of other pages: node .config/docs.mjs [folder]
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { insertTables, manifestPage } from './docs-fidelity.mjs';
import { JSON_OF_COMMANDS } from './docs-json.mjs';
import { apiPage, recordSections } from './docs-openapi.mjs';
import { code, escaped, table } from './markdown.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const NOTICE = '<!-- Made by "npm run docs". Change its source, not this page. -->';
const WITHOUT_FLAG = 'structure';
const sources = await loadSources();
const { AUDIT_CLASSES, buildProgram, environmentName, EXIT_CODES, START_OPTIONS } = sources;
const binary = join(ROOT, 'bin/gateway-sim.js');
const document = JSON.parse(
  execFileSync(process.execPath, [binary, 'openapi'], { encoding: 'utf8', maxBuffer: 2 ** 26 }),
);
const program = await buildProgram();
const helper = program.createHelp();
helper.prepareContext({ helpWidth: 110 });
const leaves = commandsOf(program).filter(({ commands }) => commands.length === 0);

const pages = {
  'commands.md': commandsPage(),
  'options.md': optionsPage(),
  'service.md': apiPage(document, {
    title: 'Service API',
    introduction: 'The interface for the merchant’s code and the customer’s browser.',
    side: 'service',
    concerns: (tag) => tag.startsWith('Service'),
  }),
  'control-api.md': apiPage(document, {
    title: 'Control API',
    introduction:
      'The interface for the commands, the dashboard and the library: JSON below `/_sim`. For access control, see [containers](../containers.md). `GET /_sim/openapi.json` and `gateway-sim openapi` return it as an OpenAPI document.',
    side: 'control',
    concerns: (tag) => !tag.startsWith('Service'),
  }),
  'json.md': jsonPage(),
  'exit-codes.md': exitCodesPage(),
  'audit-cases.md': auditPage(),
  'manifest.md': manifestPage(ROOT, sources),
  'llms.txt': agentsIndex(),
};
const folder = resolve(process.argv[2] ?? join(ROOT, 'src/docs/reference'));
mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(pages)) {
  const notice = name.endsWith('.md') ? `${NOTICE}\n\n` : '';
  writeFileSync(join(folder, name), `${notice}${text.trim().replace(/\n{3,}/g, '\n\n')}\n`);
}
insertTables(ROOT, sources, process.argv[2] === undefined);

/** The topics of the pages, for coding agents, in the llmstxt.org format. */
function agentsIndex() {
  const { description } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const docs = join(ROOT, 'src/docs');
  const links = (files) =>
    files.map((file) => {
      const text = readFileSync(join(docs, file), 'utf8');
      const [, title] = /^# (.+)$/m.exec(text);
      const prose = text
        .replace(/^```[\s\S]*?^```$/gm, '')
        .slice(text.indexOf(`# ${title}`) + title.length + 2);
      const [first] = /^[A-Z`*[].*$/m.exec(prose) ?? [title];
      const about = first
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .split(/(?<=[.:]) /)[0]
        .replace(/:$/, '.');
      return `- [${title}](../${file}): ${about}`;
    });
  const written = readdirSync(docs, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !file.startsWith('reference'))
    .sort();
  return [
    '# gateway-sim',
    `> ${description}`,
    '## Pages',
    links(written).join('\n'),
    '## Reference',
    [
      'commands',
      'options',
      'service',
      'control-api',
      'json',
      'exit-codes',
      'audit-cases',
      'manifest',
      'files',
    ]
      .map((name) => `- [${name}](${name}.md)`)
      .join('\n'),
  ].join('\n\n');
}

function auditPage() {
  const listed = execFileSync(process.execPath, [binary, 'audit', '--list', '--json'], { encoding: 'utf8' });
  const { cases } = JSON.parse(listed);
  const sections = Object.entries(AUDIT_CLASSES).map(([kind, about]) => {
    const rows = cases
      .filter((one) => one.class === kind)
      .map(({ name, about }) => [code(name), escaped(about)]);
    return `## ${kind}: ${about}\n\n${table(['Case', 'Meaning'], rows)}`;
  });
  return [
    '# Cases of an audit',
    'The requests and checks of [`gateway-sim audit`](../audit.md), by class. `--only` and `--skip` accept these names, classes and groups.',
    ...sections,
  ].join('\n\n');
}

/** Bundles the sources before importing them, because Node 20 does not run TypeScript. */
async function loadSources() {
  const scratch = mkdtempSync(join(tmpdir(), 'gateway-sim-docs-'));
  const outfile = join(scratch, 'sources.mjs');
  try {
    await build({
      stdin: {
        contents: `
          export { AUDIT_CLASSES } from './src/contract/audit.ts';
          export { AREAS } from './src/contract/manifest.ts';
          export { CHOICES, PROFILES, choicesOf } from './src/contract/profiles.ts';
          export { EXIT_CODES } from './src/cli/output.ts';
          export { buildProgram } from './src/cli/run.ts';
          export { environmentName } from './src/options/resolve.ts';
          export { START_OPTIONS } from './src/options/table.ts';`,
        resolveDir: ROOT,
      },
      bundle: true,
      outfile,
      platform: 'node',
      target: 'node20',
      format: 'esm',
      // No command runs here, so the code that commands load is not needed.
      plugins: [
        {
          name: 'declarations-only',
          setup({ onResolve, onLoad }) {
            onResolve({ filter: /./ }, ({ kind, path }) =>
              kind === 'dynamic-import' && !path.startsWith('./commands/')
                ? { path, external: true }
                : undefined,
            );
            // Assets that are replaced at build time.
            onResolve({ filter: /\?\w+$/ }, ({ path }) => ({ path, namespace: 'made' }));
            onLoad({ filter: /./, namespace: 'made' }, () => ({ contents: 'export default {};' }));
          },
        },
      ],
      logLevel: 'error',
      banner: {
        js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
      },
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function commandsOf(command) {
  return [command, ...command.commands.flatMap(commandsOf)];
}

/** For example `ipn resend`. */
function nameOf(command) {
  return command.parent?.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
}

function helpOf(command) {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text;
}

function optionRows(options) {
  return options.map((option) => [
    code(helper.optionTerm(option)),
    escaped(helper.optionDescription(option)),
  ]);
}

function commandsPage() {
  return `# Commands

Every command, as its \`--help\` describes it. All commands also accept these options:

${table(['Option', 'What'], optionRows(helper.visibleOptions(program).filter(({ long }) => !['--version', '--help'].includes(long))))}

For the output with \`--json\`, see [JSON output](json.md). For the exit codes, see [exit codes](exit-codes.md).

${leaves.map(commandSection).join('\n\n')}`;
}

function commandSection(command) {
  const flagsOfStart = Object.entries(START_OPTIONS).map(([name, spec]) => flagOf(name, spec));
  const options = helper
    .visibleOptions(command)
    .filter(({ long, helpGroupHeading }) => long !== '--help' && !helpGroupHeading);
  // A flag in that table may have another meaning here.
  const own = options.filter(
    (option) =>
      !flagsOfStart.includes(option.long) || described(option) !== described(optionOfStart(option.long)),
  );
  const isStart = options.length - own.length > 10;
  const missing = flagsOfStart.filter((flag) => flag && !options.some(({ long }) => long === flag));
  const except = missing.length
    ? `, except ${missing
        .map(code)
        .join(', ')
        .replace(/, ([^,]*)$/, ' and $1')}`
    : '';
  const examples = /\nExamples?:\n([\s\S]*?)(\n\n|$)/.exec(helpOf(command))?.[1];
  return `## ${nameOf(command)}

${escaped(command.description())}

\`\`\`text
gateway-sim ${`${nameOf(command)} ${command.usage()}`.trim()}${examples ? `\n\n${examples.replace(/^ {2}/gm, '').trim()}` : ''}
\`\`\`

${isStart ? `It accepts the [options of start](options.md)${except}.\n\n` : ''}${table(['Option', 'What'], optionRows(isStart ? own : options))}`;
}

function optionOfStart(flag) {
  return program.commands
    .find((command) => command.name() === 'start')
    .options.find(({ long }) => long === flag);
}

function described(option) {
  return option && helper.optionDescription(option);
}

function flagOf(name, { kind, default: fallback }) {
  if (kind === WITHOUT_FLAG) return undefined;
  return `--${fallback === true ? 'no-' : ''}${environmentName(name).replace('GATEWAY_SIM_', '').replaceAll('_', '-').toLowerCase()}`;
}

function optionsPage() {
  const rows = Object.entries(START_OPTIONS).map(([name, spec]) => {
    const flag = flagOf(name, spec);
    const option = optionOfStart(flag);
    const fallback = [spec.default ?? ''].flat().join(',');
    return [
      option ? code(helper.optionTerm(option)) : '',
      flag ? code(environmentName(name)) : '',
      code(name),
      fallback === '' ? '' : code(fallback),
      escaped(spec.description),
    ];
  });
  return `# Options

Each option of \`start\` is a flag, an environment variable and a key of \`gateway-sim.config.json\`. A flag overrides a variable, which overrides the file, which overrides the [profile](../fidelity.md#profiles), which overrides the default. A duration is a number with \`ms\`, \`s\`, \`m\` or \`h\`. For the format of the file, see [configuration](../configuration.md).

${table(['Flag', 'Variable', 'Key', 'Default', 'What'], rows)}

These variables work with every command: ${['url', 'dataDir', 'controlToken', 'json'].map((name) => code(environmentName(name))).join(', ')}.`;
}

function jsonPage() {
  const names = leaves.map(nameOf);
  const given = Object.keys(JSON_OF_COMMANDS);
  const differ = [
    ...names.filter((name) => !given.includes(name)),
    ...given.filter((name) => !names.includes(name)),
  ];
  if (differ.length)
    throw new Error(`.config/docs-json.mjs and the commands differ in: ${differ.join(', ')}`);
  const rows = names.map((name) => [
    `[${name}](commands.md#${name.replaceAll(' ', '-')})`,
    JSON_OF_COMMANDS[name],
  ]);
  return `# JSON output

With \`--json\` a command prints one JSON document on stdout (\`start\`, \`logs\` and \`ipn listen\` one per line); everything else goes to stderr. A list is \`data\` with its records and \`nextCursor\`.

${table(['Command', 'Prints'], rows)}

# Records

The data of the commands, the control API and the library. A field marked *optional* may be absent.

${recordSections(document)}`;
}

function exitCodesPage() {
  const meanings = [...helpOf(program).matchAll(/^ {2}(\d) {2}(.+)$/gm)];
  const rows = meanings.map(([, number, meaning]) => [
    number,
    meaning,
    Object.keys(EXIT_CODES)
      .filter((name) => EXIT_CODES[name] === Number(number))
      .map(code)
      .join(', '),
  ]);
  return `# Exit codes

${table(['Exit code', 'Meaning', 'Codes of errors'], rows)}

\`exec\` ends with the exit code of its command. If a signal ended the command, this is 128 plus the number of the signal. The code 127 means that the command was not found, and 126 that it cannot be run. An error in JSON has its \`code\` from the last column: [ControlError](json.md#controlerror).`;
}
