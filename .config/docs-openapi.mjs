// The reference pages that are generated from the OpenAPI document.

import { code, escaped, table } from './markdown.mjs';

const RECORDS_PAGE = 'json.md';

/** A page with the operations of some tags: parameters, body, responses. */
export function apiPage(document, { title, introduction, side, concerns }) {
  const tags = document.tags.filter(({ name }) => concerns(name));
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
  const webhooks = side === 'service' ? Object.entries(document.webhooks ?? {}).map(webhookSection) : [];
  return [`# ${title}`, introduction, errorsTable(document, side), ...sections, ...webhooks].join('\n\n');
}

/** A page with every record of the document and its fields. */
export function recordSections(document) {
  return Object.entries(document.components.schemas)
    .map(([name, schema]) => [`## ${name}`, schema.description ?? '', fieldsOf(schema)].join('\n\n'))
    .join('\n\n');
}

function webhookSection([, methods]) {
  return operationSection({ heading: 'The IPN', operation: methods.post });
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

function errorsTable(document, side) {
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
