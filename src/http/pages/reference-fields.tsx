import { firstProblems } from '../../contract/error.ts';
import type { JsonSchema } from '../../contract/field.ts';
import { nameAt } from '../../contract/json-schema.ts';
import type { Source } from '../../contract/vocabulary.ts';

export function schemaAnchor(name: string): string {
  return `schema-${name}`;
}

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
      <ul class="fields">
        {Object.entries(properties).map(([name, field]) => (
          <Field name={name} field={field} required={required.includes(name)} sent={sent} />
        ))}
      </ul>
    );
  }
  if (!oneOf) {
    return (
      <p class="field-name">
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
    <li>
      <p class="field-name">
        <code>{name}</code>{' '}
        {place === undefined ? (
          <Type schema={field} />
        ) : (
          <span>
            <span class="type">in the {place}: </span>
            <Type schema={field} />
          </span>
        )}
        {sent && required && <span class="required">required</span>}
        {!sent && !required && <span class="type">may be missing</span>}
        <SourceMark source={source} lines={lines ?? []} />
      </p>
      {description && <Text text={description} />}
      {inside && <Fields schema={inside} sent={sent} />}
    </li>
  );
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
    <span class="type">
      <Kind schema={schema} />
      {limits.map(([keyword, describe]) => `, ${describe(schema[keyword])}`)}
    </span>
  );
}

function Kind({ schema }: { schema: JsonSchema }) {
  const { $ref, anyOf, items, type, properties, additionalProperties: others } = schema;
  if ($ref !== undefined) return <a href={`#${schemaAnchor(nameAt($ref))}`}>{nameAt($ref)}</a>;
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
