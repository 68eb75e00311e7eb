// Fills the marked parts of the pages in src/docs from the program: node .config/docs.mjs [folder to write to]
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { importSources } from './assets.mjs';

const sources = await importSources();
const { ERRORS, PROFILES, program } = sources;

/** The output of a command of the built program. */
const outputOf = (...args) =>
  JSON.parse(execFileSync(process.execPath, ['bin/gateway-sim.js', ...args], { maxBuffer: 2 ** 26 }));
const api = outputOf('openapi');

/** The declared commands by name, such as `ipn resend`. */
const commands = Object.fromEntries(
  sources.declarations.flatMap(([word, one]) =>
    Object.entries(one.commands ?? { '': one }).map(([name, command]) => [`${word} ${name}`.trim(), command]),
  ),
);

const code = (text) => `\`${text.replaceAll('|', '\\|')}\``;
const cell = (text = '') => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
const sentence = (text) => (/[.?!]$/.test(text) ? text : `${text}.`);
const paragraphs = (parts) => parts.filter(Boolean).join('\n\n');
const sections = (table, render) =>
  paragraphs(Object.entries(table).flatMap(([name, one]) => render(name, one)));

function table(head, rows) {
  if (rows.length === 0) return '';
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

const subcommand = (command, name) => command.commands.find((one) => one.name() === name);

function helpOf(command) {
  let text = '';
  command.configureOutput({ getOutHelpWidth: () => 110, writeOut: (part) => (text += part) });
  command.outputHelp();
  return text.trim();
}

/** The help of each command. The options of all commands stand only at the beginning, and those of `start` only there. */
function help() {
  const start = helpOf(subcommand(program, 'start')).split('\n\n');
  const fenced = (text) => `\`\`\`text\n${text}\n\`\`\``;
  const all = sections(commands, (name) => {
    const parts = helpOf(name.split(' ').reduce(subcommand, program)).split('\n\n');
    const own = parts.filter((part) => name === 'start' || !start.includes(part));
    const text = own.filter((part) => !part.startsWith('Every command also has')).join('\n\n');
    return [`## ${name}`, fenced(text), printed(name)];
  });
  return paragraphs([fenced(helpOf(program)), all]);
}

/** What programs read from the output of these commands. The others print records of the control API, or little. */
const PRINTED = { audit: 'AuditReport', 'ipn diagnose': 'Diagnosis', reconcile: 'Reconciliation' };

function printed(command) {
  if (!(command in PRINTED)) return '';
  const schemas = sources.componentSchemas();
  const rows = Object.entries(schemas[PRINTED[command]].properties).map(([name, schema]) => {
    const { $ref, properties = {} } = schema.items ?? schema;
    const fields = Object.keys($ref ? schemas[nameOf($ref)].properties : properties);
    return [code(name), fields.map(code).join(', '), cell(schema.description)];
  });
  return paragraphs(['With `--json` it prints:', table(['Field', 'Its fields', 'What'], rows)]);
}

const nameOf = ($ref) => $ref.split('/').at(-1);

function exits() {
  const rows = [...helpOf(program).matchAll(/^ {2}(\d) {2}(.+)$/gm)].map(([, number, meaning]) => {
    const names = Object.keys(ERRORS).filter((name) => ERRORS[name].exitCode === Number(number));
    return [number, meaning, names.map(code).join(', ')];
  });
  return table(['Exit code', 'Meaning', 'Codes of errors'], rows);
}

function typeOf(schema = {}) {
  const { $ref, type, items, format } = schema;
  const parts = schema.anyOf ?? schema.oneOf;
  const eitherOf = (all) => [...new Set(all.map(typeOf))].join(' or ');
  if ($ref) return code(nameOf($ref));
  if (parts) return eitherOf(parts.map((one) => ({ format, ...one })));
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum) return schema.enum.map((value) => code(String(value))).join(', ');
  if (Array.isArray(type)) return eitherOf(type.map((one) => ({ ...schema, type: one })));
  if (type === 'array') return `list of ${typeOf(items)}`;
  if (type === 'string') return { 'date-time': 'time', uri: 'URL', email: 'e-mail' }[format] ?? 'text';
  return type ?? 'anything';
}

function operations(side) {
  const errors = Object.entries(api.components.responses)
    .filter(([name]) => name.startsWith(side))
    .map(([name, { description }]) => [name.slice(side.length + 1), cell(description)]);
  const all = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({ ...one, heading: `${method.toUpperCase()} ${path}` })),
  );
  all.push({ ...api.webhooks.ipn.post, heading: 'The IPN' });
  const tags = api.tags.filter(({ name }) => name.startsWith('Service') === (side === 'service'));
  const groups = tags.flatMap(({ name, description }) => {
    const own = all.filter((one) => one.tags.includes(name));
    return [`## ${name.replace(/^\w+: /, '')}`, description, ...own.map(operationSection)];
  });
  return paragraphs([table(['Status', 'When'], errors), ...groups]);
}

function operationSection({ heading, summary, description = '', parameters = [], requestBody, responses }) {
  const rows = parameters.map((one) => {
    const place = one.required ? one.in : `${one.in}, optional`;
    return [code(one.name), place, typeOf(one.schema), cell(one.description)];
  });
  const [example] = Object.values(requestBody?.content['application/json']?.examples ?? {});
  const answers = Object.entries(responses).filter(([, { $ref }]) => !$ref);
  // The table above them describes these. Any route may have the last two.
  const isOwn = (status) => responses[status].$ref && !['507', 'default'].includes(status);
  const errors = Object.keys(responses).filter(isOwn);
  return paragraphs([
    `### ${heading}`,
    `${sentence(summary)} ${description}`.trim(),
    table(['Parameter', 'In', 'Type', 'What'], rows),
    requestBody && `Body: ${contentOf(requestBody)}`,
    example && `\`\`\`json\n${JSON.stringify(example.value, null, 2)}\n\`\`\``,
    answers
      .map(([status, one]) => `- ${status}: ${sentence(cell(one.description))} ${contentOf(one)}`.trim())
      .join('\n'),
    errors.length > 0 && `Errors: ${errors.join(', ')}`,
  ]);
}

function contentOf({ content = {} }) {
  const types = Object.values(content).flatMap(({ schema }) => (schema ? [typeOf(schema)] : []));
  const records = [...new Set(types)].join(' or ');
  const kinds = Object.keys(content).map(code).join(', ');
  return kinds && `${records} as ${kinds}.`.trim();
}

function cases() {
  const all = sources.auditCases();
  return sections(sources.AUDIT_CLASSES, (kind, about) => {
    const rows = all.filter((one) => one.class === kind).map((one) => [code(one.name), cell(one.about)]);
    return [`## ${kind}: ${about}`, table(['Case', 'Meaning'], rows)];
  });
}

/** The choices and options of each profile. */
function choices() {
  const profiles = Object.keys(PROFILES);
  const all = profiles.map((profile) => ({ ...sources.choicesOf(profile), ...PROFILES[profile].options }));
  const names = new Set([sources.CHOICES, ...all].flatMap(Object.keys));
  const rows = [...names].map((name) => {
    const values = all.map(({ [name]: value = '' }) => [value].flat().join(' '));
    return [
      code(name),
      sources.CHOICES[name]?.about ?? 'an option of `start`',
      ...values.map((value) => value && code(value)),
    ];
  });
  return table(['Choice', 'What', ...profiles.map(code)], rows);
}

const PARTS = {
  help,
  exits,
  cases,
  choices,
  service: () => operations('service'),
  control: () => operations('control'),
};
const MARKED = /(<!-- (\w+): made by "npm run docs" -->\n).*?(<!-- end of \2 -->)/gs;
const folder = process.argv[2] ?? 'src/docs';
for (const name of readdirSync('src/docs', { recursive: true }).filter((name) => name.endsWith('.md'))) {
  const old = readFileSync(join('src/docs', name), 'utf8');
  const text = old.replace(MARKED, (_, begin, part, end) => `${begin}\n${PARTS[part]()}\n\n${end}`);
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}
