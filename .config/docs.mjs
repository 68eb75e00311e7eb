// Generates src/docs/reference from the program, and tables of other pages: node .config/docs.mjs [folder]
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { linesOf, scoreOf } from './assets.mjs';
import { importSources } from './import-sources.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const NOTICE = '<!-- Made by "npm run docs". Change its source, not this page. -->';

const {
  AREAS,
  AUDIT_CLASSES,
  buildProgram,
  CHOICES,
  choicesOf,
  EXIT_CODES,
  environmentName,
  kebab,
  PROFILES,
  START_OPTIONS,
} = await importSources(
  `
    export { AUDIT_CLASSES } from './src/contract/audit.ts';
    export { kebab } from './src/contract/error.ts';
    export { AREAS } from './src/contract/manifest.ts';
    export { CHOICES, PROFILES, choicesOf } from './src/contract/profiles.ts';
    export { EXIT_CODES } from './src/cli/output.ts';
    export { buildProgram } from './src/cli/run.ts';
    export { environmentName } from './src/options/resolve.ts';
    export { START_OPTIONS } from './src/options/table.ts';`,
  [
    {
      name: 'declarations-only',
      setup({ onResolve, onLoad }) {
        // No command runs here, so the code that commands load is not needed.
        onResolve({ filter: /./ }, ({ kind, path }) =>
          kind === 'dynamic-import' && !path.startsWith('./commands/') ? { path, external: true } : undefined,
        );
        // Assets that are replaced at build time.
        onResolve({ filter: /\?\w+$/ }, ({ path }) => ({ path, namespace: 'made' }));
        onLoad({ filter: /./, namespace: 'made' }, () => ({ contents: 'export default {};' }));
      },
    },
  ],
);

/** The output of a command of the built program. */
const outputOf = (...args) =>
  JSON.parse(
    execFileSync(process.execPath, [join(ROOT, 'bin/gateway-sim.js'), ...args], {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    }),
  );
const document = outputOf('openapi');
const program = await buildProgram();
const helper = program.createHelp();
helper.prepareContext({ helpWidth: 110 });
const leaves = commandsOf(program).filter(({ commands }) => commands.length === 0);
const start = program.commands.find((command) => command.name() === 'start');
/** The flags of START_OPTIONS, as `start` declares them. */
const startFlags = new Map(
  Object.entries(START_OPTIONS).flatMap(([name, spec]) => {
    const option = start.options.find(({ long }) => long === flagOf(name, spec));
    return option ? [[option.long, option]] : [];
  }),
);
/** What is known about the service interface, one observation a line. */
const observations = linesOf(join(ROOT, 'fixtures/fidelity/manifest.jsonl'));

function table(head, rows) {
  if (rows.length === 0) return '';
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The text of a table cell. */
function escaped(text) {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
}

function code(text) {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

function commandsOf(command) {
  return [command, ...command.commands.flatMap(commandsOf)];
}

/** For example `ipn resend`. */
function nameOf(command) {
  return command.parent?.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
}

/** Undefined if the option has no flag. */
function flagOf(name, { kind, default: fallback }) {
  return kind === 'structure' ? undefined : `--${fallback === true ? 'no-' : ''}${kebab(name)}`;
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
  const options = helper
    .visibleOptions(command)
    .filter(({ long, helpGroupHeading }) => long !== '--help' && !helpGroupHeading);
  // A flag of `start` may have another meaning here.
  const own = options.filter((option) => {
    const ofStart = startFlags.get(option.long);
    return !ofStart || helper.optionDescription(option) !== helper.optionDescription(ofStart);
  });
  const isStart = options.length - own.length > 10;
  const missing = [...startFlags.keys()].filter((flag) => !options.some(({ long }) => long === flag));
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

function optionsPage() {
  const rows = Object.entries(START_OPTIONS).map(([name, spec]) => {
    const option = startFlags.get(flagOf(name, spec));
    const fallback = [spec.default ?? ''].flat().join(',');
    return [
      option ? code(helper.optionTerm(option)) : '',
      option ? code(environmentName(name)) : '',
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

/** The output of each command with `--json`: a record of the API, or these fields. */
const JSON_OF_COMMANDS = {
  start:
    'lines: first `event` (`ready`), `url`, `port`, `publicKey`, `secretKey`, `dashboardUrl`, `dataDir`, `controlToken`, `tlsCa`, `proxyPort`, `pid`; then one [SimEvent](#simevent) per line',
  exec: 'what its command prints',
  pay: '[Settled](#settled); with `--all`, `data` is a list of these',
  'payments list': '[PaymentList](#paymentlist)',
  'payments show':
    '[PaymentWithTimeline](#paymentwithtimeline); with `--curl`, `data` (each `delivery`, `curl`) and `nextCursor`; with `--har`, a HAR 1.2 document',
  'payments create': '[Payment](#payment)',
  'ipn list': '[DeliveryList](#deliverylist)',
  'ipn show': '[Delivery](#delivery)',
  'ipn resend': '[Delivery](#delivery)',
  'ipn fire': '[Delivery](#delivery); with `--times`, [DeliveryBatch](#deliverybatch)',
  'ipn verify':
    '`valid`, `authentic`, `reasons`, `identifier`, `amount`, `status`, `signature`, `signedText`, `foundText` (the text that was signed, if a common mistake explains the signature; otherwise null), `expected`, `mistake` (the name of that mistake; null if none), `fix`',
  'ipn listen':
    'lines: first `event` (`ready`), `url`, `port`, `forwardTo`, `pid`; then for each IPN `event` (`ipn`), `at`, `method`, `url`, `headers`, `body`, `verdict` (as `ipn verify`), `answered`',
  'keys show': '`merchant`, `publicKey`, `secretKey`',
  'keys generate': '`merchant`, `publicKey`, `secretKey`',
  'keys env':
    '`GATEWAY_SIM_URL`, `GATEWAY_SIM_PUBLIC_KEY`, `GATEWAY_SIM_SECRET_KEY`, `GATEWAY_SIM_INITIATE_URL`',
  'wallets list': '[WalletList](#walletlist)',
  'wallets fund': '[Wallet](#wallet)',
  'state reset':
    '`reset`, `url`, `counts` ([RecordCounts](#recordcounts)); if no emulator runs `reset`, `dataDir`, `backup`',
  'state export': '`file`, `counts` ([RecordCounts](#recordcounts)); with `-`, the [State](#state)',
  'state import': '`imported`, `url`, `counts` ([RecordCounts](#recordcounts))',
  'cards list': '[CardList](#cardlist)',
  'cards show': '[CardWithTransactions](#cardwithtransactions)',
  'cards create': '[CardWithTransactions](#cardwithtransactions)',
  'cards activate': '[CardWithTransactions](#cardwithtransactions)',
  'cards block': '[CardWithTransactions](#cardwithtransactions)',
  'cards cancel': '[CardWithTransactions](#cardwithtransactions)',
  'cards charge': '[CardMovement](#cardmovement)',
  'cards fund': '[CardMovement](#cardmovement)',
  'faults list': '[FaultList](#faultlist)',
  'faults set': '[Fault](#fault)',
  'faults clear': '[ClearedFaults](#clearedfaults)',
  'clock show': '[Clock](#clock)',
  'clock advance': '[Clock](#clock)',
  'clock freeze': '[Clock](#clock)',
  'clock resume': '[Clock](#clock)',
  audit: '[AuditReport](#auditreport); with `--list`, `cases` is a list of [AuditCaseInfo](#auditcaseinfo)',
  reconcile: '`data` (each `identifier`, `problem`, `detail`)',
  conform:
    '`target`, `profile`, `agree` (number of lines that match), `differ` (each `id`, `expected`, `got`), `causes` (of the differences, largest first: each `cause`, `ids`), `unseen` (each `id`, `why`)',
  status: '[Status](#status)',
  stop: '`stopped`, `url`, `pid`',
  wait: '`ready`, `url`',
  inbox: '[MessageList](#messagelist)',
  logs: 'lines: one [SimEvent](#simevent) per line; if no emulator runs, without requests and with an empty `checkoutUrl`',
  open: '`url`',
  init: '`files`',
  docs: '`data` (a list of `topic`, `title`); with a topic `topic`, `title`, `text`',
  openapi: 'the OpenAPI document; with `--out`, `file`',
  completion: '`shell`, `script`',
};

function jsonPage() {
  const names = leaves.map(nameOf);
  const given = Object.keys(JSON_OF_COMMANDS);
  const differ = [
    ...names.filter((name) => !given.includes(name)),
    ...given.filter((name) => !names.includes(name)),
  ];
  if (differ.length) throw new Error(`JSON_OF_COMMANDS and the commands differ in: ${differ.join(', ')}`);
  const rows = names.map((name) => [
    `[${name}](commands.md#${name.replaceAll(' ', '-')})`,
    JSON_OF_COMMANDS[name],
  ]);
  const records = Object.entries(document.components.schemas).map(([name, schema]) =>
    [`## ${name}`, schema.description ?? '', fieldsOf(schema)].join('\n\n'),
  );
  return `# JSON output

With \`--json\` a command prints one JSON document on stdout (\`start\`, \`logs\` and \`ipn listen\` one per line); everything else goes to stderr. A list is \`data\` with its records and \`nextCursor\`.

${table(['Command', 'Prints'], rows)}

# Records

The data of the commands, the control API and the library. A field marked *optional* may be absent.

${records.join('\n\n')}`;
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

const RECORDS_PAGE = 'json.md';

/** A page with the operations of some tags: parameters, body, responses. */
function apiPage(side, title, introduction) {
  const tags = document.tags.filter(({ name }) => (side === 'service') === name.startsWith('Service'));
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      heading: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
  const sections = tags.map(({ name, description }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name));
    return [`## ${name.replace(/^\w+: /, '')}`, description, ...own.map(operationSection)].join('\n\n');
  });
  const webhooks = Object.values(side === 'service' ? document.webhooks : {}).map(({ post }) =>
    operationSection({ heading: 'The IPN', operation: post }),
  );
  return [`# ${title}`, introduction, errorsTable(side), ...sections, ...webhooks].join('\n\n');
}

function operationSection({ heading, operation }) {
  const { summary, description, parameters = [], requestBody, responses } = operation;
  const rows = parameters.map((one) => [
    code(one.name),
    one.in + (one.required ? '' : ', optional'),
    typeOf(one.schema),
    escaped(one.description ?? ''),
  ]);
  const answers = Object.entries(responses ?? {}).filter(([, { $ref }]) => $ref === undefined);
  const refusals = Object.entries(responses ?? {}).filter(
    // The table above lists the responses that are common to all routes.
    ([status, { $ref }]) => $ref && !['default', '507'].includes(status),
  );
  return [
    `### ${heading}`,
    [sentence(summary), description].filter(Boolean).join(' '),
    table(['Parameter', 'In', 'Type', 'What'], rows),
    requestBody ? `Body: ${contentOf(requestBody.content)}` : '',
    exampleOf(requestBody?.content),
    answers.map(([status, answer]) => `- ${status}: ${answerOf(answer)}`).join('\n'),
    refusals.length ? `Errors: ${refusals.map(([status]) => status).join(', ')}` : '',
  ]
    .filter(Boolean)
    .join('\n\n');
}

function sentence(text = '') {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

function answerOf({ description, content }) {
  const what = content ? contentOf(content) : '';
  return [sentence(escaped(description)), what].filter(Boolean).join(' ');
}

function contentOf(content) {
  const kinds = Object.entries(content);
  const types = [...new Set(kinds.map(([, { schema }]) => (schema ? typeOf(schema) : '')))].filter(Boolean);
  return `${types.join(' or ')}${types.length ? ' ' : ''}as ${kinds.map(([kind]) => code(kind)).join(', ')}.`;
}

function exampleOf(content = {}) {
  const [first] = Object.values(content['application/json']?.examples ?? {});
  return first ? ['```json', JSON.stringify(first.value, null, 2), '```'].join('\n') : '';
}

function errorsTable(side) {
  const rows = Object.entries(document.components.responses)
    .filter(([name]) => name.startsWith(`${side}-`))
    .map(([name, { description }]) => [name.slice(side.length + 1), escaped(description)]);
  const shape = side === 'control' ? 'ControlError' : 'Error';
  return `Errors are [${shape}](${RECORDS_PAGE}#${shape.toLowerCase()}):\n\n${table(['Status', 'When'], rows)}`;
}

function fieldsOf(schema) {
  if (schema.$ref) return typeOf(schema);
  if (schema.oneOf ?? schema.anyOf) {
    return (schema.oneOf ?? schema.anyOf)
      .map((one) => (one.properties ? fieldsOf(one) : `- ${typeOf(one)}`))
      .join('\n\nor\n\n');
  }
  if (schema.type === 'array') return `A list of ${typeOf(schema.items)}.`;
  return table(['Field', 'Type', 'What'], rowsOf(schema, ''));
}

/** The fields of an object and its nested objects, by dotted names. */
function rowsOf({ properties = {}, required = [] }, prefix) {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const optional = required.includes(name) ? '' : ', *optional*';
    const row = [code(prefix + name), typeOf(schema) + optional, escaped(schema.description ?? '')];
    const inside = [schema, schema.items ?? {}, ...(schema.anyOf ?? [])].find((one) => one.properties) ?? {};
    const list = schema.items?.properties ? '[].' : '.';
    return [row, ...rowsOf(inside, `${prefix}${name}${list}`)];
  });
}

function typeOf(schema = {}) {
  const { $ref, anyOf, oneOf, type, items } = schema;
  if ($ref) {
    const name = $ref.split('/').at(-1);
    return `[${name}](${RECORDS_PAGE}#${name.toLowerCase()})`;
  }
  if (anyOf ?? oneOf)
    return [...new Set((anyOf ?? oneOf).map((one) => typeOf({ format: schema.format, ...one })))].join(
      ' or ',
    );
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum) return schema.enum.map((value) => code(String(value))).join(', ');
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one })).join(' or ');
  if (type === 'array') return `list of ${typeOf(items)}`;
  if (type === 'string') return { 'date-time': 'time', uri: 'URL', email: 'e-mail' }[schema.format] ?? 'text';
  return type ?? 'anything';
}

function auditPage() {
  const { cases } = outputOf('audit', '--list', '--json');
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

const KINDS = ['documented', 'observed', 'chosen'];

/** A page with every line, by area. */
function manifestPage() {
  const everywhere = Object.keys(PROFILES).length;
  const sections = Object.entries(AREAS).map(([area, title]) => {
    const rows = observations
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
    `Each line of \`fixtures/fidelity/manifest.jsonl\` is one observation: ${observations.length} in all. [Fidelity](../fidelity.md) explains their purpose.`,
    ...sections,
  ].join('\n\n');
}

/** The number of lines of each area, by source. */
function areasTable() {
  const count = (area, kind) =>
    observations.filter((line) => (!area || line.area === area) && line.source.kind === kind).length || '';
  const rows = Object.entries(AREAS).map(([area, title]) => [
    `[${title}](reference/manifest.md#${title.toLowerCase().replaceAll(' ', '-')})`,
    ...KINDS.map((kind) => count(area, kind)),
  ]);
  return table(['Area', ...KINDS], [...rows, ['All', ...KINDS.map((kind) => count(undefined, kind))]]);
}

/** A table with the choices and options of each profile. */
function choicesTable() {
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

/**
 * Puts the tables between their markers on the page about fidelity, and the counts in README.md.
 *
 * @param isWanted whether to write them; otherwise, outdated tables are an error
 */
function insertTables(isWanted) {
  const score = scoreOf(observations).document;
  const counts = KINDS.map((kind) => `${score[kind]} ${kind}`);
  const files = {
    'README.md': {},
    'src/docs/fidelity.md': { areas: areasTable(), choices: choicesTable() },
  };
  for (const [file, tables] of Object.entries(files)) {
    const path = join(ROOT, file);
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
    text = text.replace(/\(\d+ facts: [^)]*\)/, `(${score.lines} facts: ${counts.join(', ')})`);
    if (text === old) continue;
    if (!isWanted) throw new Error(`${file} is not what "npm run docs" makes of it`);
    writeFileSync(path, text);
  }
}

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
    [...Object.keys(pages), 'files.md'].map((name) => `- [${name.replace('.md', '')}](${name})`).join('\n'),
  ].join('\n\n');
}

const pages = {
  'commands.md': commandsPage(),
  'options.md': optionsPage(),
  'service.md': apiPage(
    'service',
    'Service API',
    'The interface for the merchant’s code and the customer’s browser.',
  ),
  'control-api.md': apiPage(
    'control',
    'Control API',
    'The interface for the commands, the dashboard and the library: JSON below `/_sim`. For access control, see [containers](../containers.md). `GET /_sim/openapi.json` and `gateway-sim openapi` return it as an OpenAPI document.',
  ),
  'json.md': jsonPage(),
  'exit-codes.md': exitCodesPage(),
  'audit-cases.md': auditPage(),
  'manifest.md': manifestPage(),
};
const folder = resolve(process.argv[2] ?? join(ROOT, 'src/docs/reference'));
mkdirSync(folder, { recursive: true });
const write = (name, text) =>
  writeFileSync(join(folder, name), `${text.trim().replace(/\n{3,}/g, '\n\n')}\n`);
for (const [name, text] of Object.entries(pages)) write(name, `${NOTICE}\n\n${text}`);
write('llms.txt', agentsIndex());
insertTables(process.argv[2] === undefined);
