import { firstProblems } from '../../contract/error.ts';
import type { JsonSchema } from '../../contract/field.ts';
import { nameAt } from '../../contract/json-schema.ts';
import type { Source } from '../../contract/vocabulary.ts';

export function schemaAnchor(name: string): string {
  return `schema-${name}`;
}

/** The page of the schemas stands beside that of the operations: the same relative address serves both. */
const SCHEMAS = 'schemas';

/** Maximum lines that a mark on the page names: an operation stands on hundreds. */
const NAMED = 8;

/** Where a behaviour comes from, as a mark that names the lines of the manifest which show it. */
export function SourceMark({
  source,
  lines = [],
}: {
  source: Source | undefined;
  lines?: readonly string[];
}) {
  const named = firstProblems(lines, lines.length, NAMED).join(', ');
  return source ? (
    <span class={`source ${source}`} title={named || undefined}>
      {source}
    </span>
  ) : null;
}

/**
 * A schema as a tree of fields; schemas with a name are links.
 *
 * @param sent a sender must know what may not be missing; a reader, what may be
 */
export function Fields({ schema, sent }: { schema: JsonSchema; sent: boolean }) {
  const { properties, required = [], oneOf } = schema;
  if (properties) {
    return (
      <dl class="fields">
        {Object.entries(properties).map(([name, field]) => (
          <Field name={name} field={field} required={required.includes(name)} sent={sent} />
        ))}
      </dl>
    );
  }
  if (!oneOf) {
    return (
      <p>
        <Type schema={schema} />
      </p>
    );
  }
  return (
    <>
      <p>One of these, told apart by their type:</p>
      {oneOf.map((one) => (
        <Fields schema={one} sent={sent} />
      ))}
    </>
  );
}

/** A field, or a parameter, which has a place. */
function Field(props: { name: string; field: JsonSchema; required: boolean; sent: boolean }) {
  const { name, field, required, sent } = props;
  const { description, in: place, items, anyOf = [], 'x-source': source, 'x-fidelity': lines } = field;
  // An object without a name, be it alone, in a list or nullable.
  const inside = [field, items || undefined, ...anyOf].find((part) => part?.properties);
  return (
    <>
      <dt>
        <code>{name}</code>{' '}
        <i>
          {place !== undefined && `in the ${place}: `}
          <Type schema={field} />
          {!sent && !required && ', may be missing'}
        </i>
        {sent && required && <b>required</b>}
        <SourceMark source={source} lines={lines ?? []} />
      </dt>
      <dd>
        {description && <Text text={withoutSource(description, source)} />}
        {inside && <Fields schema={inside} sent={sent} />}
      </dd>
    </>
  );
}

/** A description without the word that the mark beside it says. */
function withoutSource(text: string, source: Source | undefined): string {
  return source === undefined ? text : text.replace(new RegExp(` \\(${source}\\)(?=[.;]?$)`), '');
}

/** A text in which `words` in backticks, and flags, stand for code. */
export function Text({ text }: { text: string }) {
  const parts = text.split(/(`[^`]+`|--[a-z][a-z-]*)/);
  return <p>{parts.map((part, index) => (index % 2 ? <code>{part.replaceAll('`', '')}</code> : part))}</p>;
}

/** The type of a value in words, with what limits it. */
export function Type({ schema }: { schema: JsonSchema }) {
  const limits = Object.entries(LIMITS).filter(([keyword]) => schema[keyword] !== undefined);
  return (
    <>
      <Kind schema={schema} />
      {limits.map(([keyword, describe]) => `, ${describe(schema[keyword])}`)}
    </>
  );
}

function Kind({ schema }: { schema: JsonSchema }) {
  const { $ref, anyOf, items, type, properties, additionalProperties: others } = schema;
  if ($ref !== undefined) return <a href={`${SCHEMAS}#${schemaAnchor(nameAt($ref))}`}>{nameAt($ref)}</a>;
  if (anyOf) return anyOf.flatMap((one, index) => [index > 0 && ' or ', <Kind schema={one} />]);
  if (items) return ['list of ', <Kind schema={items} />];
  if (!properties && typeof others === 'object') return ['map of ', <Kind schema={others as JsonSchema} />];
  if ((schema['prefixItems'] as JsonSchema[] | undefined)?.[1]) return 'name and value';
  return typeof type === 'object' ? type.join(' or ') : (type ?? 'any value');
}

/** Keywords that limit a value, in words. */
const LIMITS: Readonly<Record<string, (value: unknown) => string>> = {
  const: (value) => `always ${JSON.stringify(value)}`,
  format: (value) => String(value),
  minimum: (value) => `at least ${value}`,
  exclusiveMinimum: (value) => `greater than ${value}`,
  maximum: (value) => `at most ${value}`,
  maxLength: (value) => `at most ${value} characters`,
  default: (value) => `default ${JSON.stringify(value)}`,
  enum: (value) => `one of ${(value as unknown[]).join(', ')}`,
};
