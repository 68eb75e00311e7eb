import type { JsonSchema } from '../../contract/field.ts';
import { nameAt } from '../../contract/json-schema.ts';
import type { Source } from '../../contract/vocabulary.ts';

/** The anchor of a named schema. */
export function schemaAnchor(name: string): string {
  return `schema-${name}`;
}

/** Where a behaviour comes from, as a mark. */
export function SourceMark({ source }: { source: Source | undefined }) {
  return source ? <span class={`source ${source}`}>{source}</span> : null;
}

interface FieldsProps {
  schema: JsonSchema;
  /** Whoever sends must know what may not be missing; whoever reads, what may be. */
  sent: boolean;
}

/** A schema as a tree of fields; schemas with a name are links. */
export function Fields({ schema, sent }: FieldsProps) {
  const { properties, required = [] } = schema;
  if (!properties) return <TypeLine schema={schema} sent={sent} />;
  return (
    <ul class="fields">
      {Object.entries(properties).map(([name, field]) => (
        <li>
          <p class="field-name">
            <code>{name}</code> <Type schema={field} />
            <Presence required={required.includes(name)} sent={sent} />
            <SourceMark source={field['x-source']} />
          </p>
          {field.description && <Text text={field.description} />}
          <Inside schema={field} sent={sent} />
        </li>
      ))}
    </ul>
  );
}

function Presence({ required, sent }: { required: boolean; sent: boolean }) {
  if (sent) return required ? <span class="required">required</span> : null;
  return required ? null : <span class="type">may be missing</span>;
}

function TypeLine({ schema, sent }: FieldsProps) {
  const { oneOf } = schema;
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

/** The fields of an object without a name, be it alone, in a list or nullable. */
function Inside({ schema, sent }: FieldsProps) {
  const parts = [schema, schema.items || undefined, ...(schema.anyOf ?? [])];
  const object = parts.find((part) => part?.properties);
  return object ? <Fields schema={object} sent={sent} /> : null;
}

/** A text in which `words` in backticks, and flags, stand for code. */
export function Text({ text }: { text: string }) {
  const parts = text.split(/(`[^`]+`|--[a-z][a-z-]*)/);
  return <p>{parts.map((part, index) => (index % 2 ? <code>{part.replaceAll('`', '')}</code> : part))}</p>;
}

/** The type of a value in words, with what limits it. */
export function Type({ schema }: { schema: JsonSchema }) {
  const limits = limitsOf(schema);
  return (
    <span class="type">
      <Kind schema={schema} />
      {limits.length > 0 && `, ${limits.join(', ')}`}
    </span>
  );
}

function Kind({ schema }: { schema: JsonSchema }) {
  const { $ref, anyOf, items, type, properties } = schema;
  if ($ref !== undefined) return <a href={`#${schemaAnchor(nameAt($ref))}`}>{nameAt($ref)}</a>;
  if (anyOf) {
    return (
      <>
        {anyOf.map((one, index) => (
          <>
            {index > 0 && ' or '}
            <Kind schema={one} />
          </>
        ))}
      </>
    );
  }
  if (items) {
    return (
      <>
        list of <Kind schema={items} />
      </>
    );
  }
  if (!properties && typeof schema['additionalProperties'] === 'object')
    return (
      <>
        map of <Kind schema={schema['additionalProperties'] as JsonSchema} />
      </>
    );
  const [first, second] = (schema['prefixItems'] as JsonSchema[] | undefined) ?? [];
  if (first && second) return <>name and value</>;
  return <>{typeof type === 'object' ? type.join(' or ') : (type ?? 'any value')}</>;
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
};

function limitsOf(schema: JsonSchema): string[] {
  const limits = Object.entries(LIMITS)
    .filter(([keyword]) => schema[keyword] !== undefined)
    .map(([keyword, inWords]) => inWords(schema[keyword]));
  return schema.enum ? [...limits, `one of ${schema.enum.join(', ')}`] : limits;
}
