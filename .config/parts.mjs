// The parts of the pages in src/docs that are made from the program.

const code = (text) => `\`${text.replaceAll('|', '\\|')}\``;
const fenced = (text) => `\`\`\`text\n${text}\n\`\`\``;
const cell = (text = '') => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

function helpOf(command) {
  let text = '';
  command.configureOutput({ getOutHelpWidth: () => 110, writeOut: (part) => (text += part) });
  command.outputHelp();
  return text.trim();
}

/** The help of each command. The options of all commands stand only at the beginning, and those of `start` only there. */
function help({ program, componentSchemas }) {
  const schemas = componentSchemas();
  const start = helpOf(program.commands.find((command) => command.name() === 'start')).split('\n\n');
  const section = (command, name) => {
    const isOwn = (part) =>
      !part.startsWith('Every command also has') && (name === 'start' || !start.includes(part));
    return [
      `## ${name}`,
      fenced(helpOf(command).split('\n\n').filter(isOwn).join('\n\n')),
      ...printed(name, schemas),
    ];
  };
  const sections = (command, words) =>
    command.commands.length === 0
      ? section(command, words.join(' '))
      : command.commands.flatMap((one) => sections(one, [...words, one.name()]));
  return [fenced(helpOf(program)), ...sections(program, [])].join('\n\n');
}

/** What programs read from the output of these commands. The others print records of the control API, or little. */
const PRINTED = { audit: 'AuditReport', 'ipn diagnose': 'Diagnosis', reconcile: 'Reconciliation' };

function printed(command, schemas) {
  if (!(command in PRINTED)) return [];
  const rows = Object.entries(schemas[PRINTED[command]].properties).map(([name, schema]) => {
    const { $ref, properties = {} } = schema.items ?? schema;
    const fields = Object.keys($ref ? schemas[$ref.split('/').at(-1)].properties : properties);
    return [code(name), fields.map(code).join(', '), cell(schema.description)];
  });
  return ['With `--json` it prints:', table(['Field', 'Its fields', 'What'], rows)];
}

function exits({ program, ERRORS }) {
  const rows = [...helpOf(program).matchAll(/^ {2}(\d) {2}(.+)$/gm)].map(([, number, meaning]) => {
    const names = Object.keys(ERRORS).filter((name) => ERRORS[name].exitCode === Number(number));
    return [number, meaning, names.map(code).join(', ')];
  });
  return table(['Exit code', 'Meaning', 'Codes of errors'], rows);
}

function cases({ AUDIT_CLASSES, auditCases }) {
  const sections = Object.entries(AUDIT_CLASSES).map(([kind, about]) => {
    const ofClass = auditCases().filter((one) => one.class === kind);
    const rows = ofClass.map((one) => [code(one.name), cell(one.about)]);
    return `## ${kind}: ${about}\n\n${table(['Case', 'Meaning'], rows)}`;
  });
  return sections.join('\n\n');
}

/** The choices and options of each profile. */
function choices({ CHOICES, choicesOf, PROFILES }) {
  const names = Object.keys(PROFILES);
  const profiles = names.map((name) => ({ ...choicesOf(name), ...PROFILES[name].options }));
  const rows = Object.keys(Object.assign({}, ...profiles)).map((name) => {
    const values = profiles.map((one) => (name in one ? code([one[name]].flat().join(' ')) : ''));
    return [code(name), CHOICES[name]?.about ?? 'an option of `start`', ...values];
  });
  return table(['Choice', 'What', ...names.map(code)], rows);
}

/** The operations of the OpenAPI document, which has the rest: their fields, types and examples. */
function operations({ paths, tags }, group) {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({ request: `${method.toUpperCase()} ${path}`, ...one })),
  );
  const section = ({ name, description }) => {
    const own = all.filter((one) => one.tags.includes(name));
    const rows = own.map(({ request, summary, parameters = [], requestBody, responses }) => {
      const names = parameters.map((one) => code(one.name)).join(', ');
      const [example] = Object.values(requestBody?.content['application/json']?.examples ?? {});
      // Any operation may have the last two.
      const statuses = Object.keys(responses).filter((status) => !['507', 'default'].includes(status));
      const body = example ? code(JSON.stringify(example.value)) : '';
      return [code(request), cell(summary), names, body, statuses.join(', ')];
    });
    const head = ['Request', 'What', 'Parameters', 'Example of the body', 'Statuses'];
    return `## ${name.replace(/^\w+: /, '')}\n\n${description}\n\n${table(head, rows)}`;
  };
  const sections = tags.filter(({ name }) => group.test(name)).map(section);
  return sections.join('\n\n');
}

const MARKED = /(<!-- (\w+): made by "npm run docs" -->\n).*?(<!-- end of \2 -->)/gs;

/** Fills the marked parts of a page. @param sources the module sources.ts @param openapi the OpenAPI document */
export function filled(page, sources, openapi) {
  const parts = {
    help,
    exits,
    cases,
    choices,
    service: () => operations(openapi, /^Service/),
    control: () => operations(openapi, /^(?!Service)/),
  };
  return page.replace(MARKED, (_, begin, part, end) => `${begin}\n${parts[part](sources)}\n\n${end}`);
}
