import type { ContentObject, OperationObject, ParameterObject, ResponseObject } from '../openapi/describe.ts';
import type { JsonSchema, Source } from '../openapi/json-schema.ts';
import type { OpenApiDocument } from '../openapi.ts';
import { type CurlFacts, curlOf } from './reference-curl.ts';
import { Fields, SourceMark, schemaAnchor, Text, Type } from './reference-fields.tsx';

/** What the API reference is made of. */
export interface ReferenceProps {
  document: OpenApiDocument;
  facts: CurlFacts;
}

interface Entry {
  method: string;
  path: string;
  operation: OperationObject;
  /** Null for what the emulator calls itself. */
  curl: string | null;
}

interface Group {
  name: string;
  description: string;
  entries: Entry[];
}

const MEANING: Readonly<Record<Source, string>> = {
  documented: 'The service interface says so.',
  observed: 'Published clients or deployments of it show it.',
  chosen: 'Ours, where the interface leaves a choice.',
};

/** The OpenAPI document as a page: every operation with what it takes and answers, and every schema. */
export function Reference({ document, facts }: ReferenceProps) {
  const groups = groupsOf(document, facts);
  const schemas = Object.entries(document.components.schemas);
  return (
    <div class="reference">
      <div class="intro">
        <h1>API reference</h1>
        <p>
          The emulated service and the control API, as this emulator answers them at{' '}
          <code>{facts.baseUrl}</code>. The same for programs: <a href="/_sim/openapi.json">openapi.json</a>.
        </p>
        <ul class="legend">
          {Object.entries(MEANING).map(([source, meaning]) => (
            <li>
              <SourceMark source={source as Source} /> {meaning}
            </li>
          ))}
        </ul>
      </div>
      <Contents groups={groups} names={schemas.map(([name]) => name)} />
      <div class="operations">
        {groups.map((group) => (
          <section aria-labelledby={anchor(group.name)}>
            <h2 id={anchor(group.name)}>{group.name}</h2>
            <p>{group.description}</p>
            {group.entries.map((entry) => (
              <Operation entry={entry} document={document} />
            ))}
          </section>
        ))}
        <section aria-labelledby="schemas">
          <h2 id="schemas">Schemas</h2>
          <p>What requests and answers are made of. An answer may get more fields in a later version.</p>
          {schemas.map(([name, schema]) => (
            <NamedSchema name={name} schema={schema} />
          ))}
        </section>
      </div>
    </div>
  );
}

function groupsOf(document: OpenApiDocument, facts: CurlFacts): Group[] {
  const entries = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(
      ([method, operation]): Entry => ({
        method,
        path,
        operation,
        curl: curlOf(method, path, operation, facts),
      }),
    ),
  );
  const ipn: Entry = { method: 'post', path: 'ipn_url', operation: document.webhooks.ipn.post, curl: null };
  return document.tags.map(({ name, description }) => ({
    name,
    description,
    entries: [...entries, ipn].filter(({ operation }) => operation.tags.includes(name)),
  }));
}

/** `Control: what happened` → `control-what-happened`. */
function anchor(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

/** Not called nav: the page's own navigation is. */
function Contents({ groups, names }: { groups: Group[]; names: string[] }) {
  return (
    <nav class="contents" aria-label="Operations and schemas">
      <ul>
        {groups.map(({ name, entries }) => (
          <li>
            <a href={`#${anchor(name)}`}>{name}</a>
            <ul>
              {entries.map(({ method, path, operation }) => (
                <li>
                  <a href={`#${operation.operationId}`}>
                    <span class="verb">{method.toUpperCase()}</span> {breakable(path)}
                  </a>
                </li>
              ))}
            </ul>
          </li>
        ))}
        <li>
          <a href="#schemas">Schemas</a>
          <ul>
            {names.map((name) => (
              <li>
                <a href={`#${schemaAnchor(name)}`}>{name}</a>
              </li>
            ))}
          </ul>
        </li>
      </ul>
    </nav>
  );
}

/** A path that may be broken behind its slashes. */
function breakable(path: string) {
  return path.split(/(?<=\/)/).map((part) => (
    <>
      {part}
      <wbr />
    </>
  ));
}

function Operation({ entry, document }: { entry: Entry; document: OpenApiDocument }) {
  const { method, path, operation, curl } = entry;
  const { operationId: id, summary, description, parameters = [], requestBody, responses } = operation;
  return (
    <article id={id} class="operation" aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`}>
        <a href={`#${id}`}>
          <span class={`verb ${method}`}>{method.toUpperCase()}</span> <code>{breakable(path)}</code>
        </a>
      </h3>
      <p class="summary">
        <strong>{summary}.</strong> <SourceMark source={operation['x-source']} />
      </p>
      {spoken(description) && <Text text={spoken(description)} />}
      <Authorization operation={operation} />
      {parameters.length > 0 && <Parameters list={parameters} />}
      {requestBody && <Body body={requestBody} document={document} />}
      <h4>Answers</h4>
      <ul class="answers">
        {Object.entries(responses).map(([status, response]) => (
          <Answer status={status} response={response} document={document} />
        ))}
      </ul>
      {curl !== null && (
        <>
          <h4>Try it</h4>
          <pre tabindex={0}>
            <code>{curl}</code>
          </pre>
        </>
      )}
    </article>
  );
}

/** The source stands beside the summary already. */
function spoken(description: string): string {
  return description.replace(/ ?Source: \w+\.$/, '');
}

function Authorization({ operation: { security = [] } }: { operation: OperationObject }) {
  if (security.some((way) => 'secretKey' in way)) {
    return (
      <p>
        Needs <code>Authorization: Bearer</code> with the merchant’s secret key.
      </p>
    );
  }
  return null;
}

function Parameters({ list }: { list: readonly ParameterObject[] }) {
  return (
    <>
      <h4>Parameters</h4>
      <ul class="fields">
        {list.map(({ name, in: place, required, schema, description }) => (
          <li>
            <p class="field-name">
              <code>{name}</code> <span class="type">in the {place}, </span>
              <Type schema={schema} />
              {required && <span class="required">required</span>}
            </p>
            <Text text={description} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Body({
  body,
  document,
}: {
  body: NonNullable<OperationObject['requestBody']>;
  document: OpenApiDocument;
}) {
  const [media] = Object.values(body.content);
  return (
    <>
      <h4>Body{body.required ? '' : ' (may be left out)'}</h4>
      <p class="field-name">
        {media && <Type schema={media.schema} />}{' '}
        <span class="type">as {Object.keys(body.content).join(', ')}</span>
      </p>
      {media && <Fields schema={resolved(media.schema, document)} />}
    </>
  );
}

/** The schema that stands behind a reference. */
function resolved(schema: JsonSchema, { components }: OpenApiDocument): JsonSchema {
  return components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema;
}

interface AnswerProps {
  status: string;
  response: ResponseObject;
  document: OpenApiDocument;
}

function Answer({ status, response, document }: AnswerProps) {
  const found = '$ref' in response ? sharedResponse(response.$ref, document) : response;
  if (!found) return null;
  const { description, content = {} } = found;
  return (
    <li>
      <p>
        <span class={`code ${status.startsWith('2') ? 'good' : ''}`}>{status}</span> {description}
      </p>
      <Contained content={content} document={document} expanded={status.startsWith('2')} />
    </li>
  );
}

function sharedResponse(reference: string, { components }: OpenApiDocument) {
  const shared = components.responses[reference.split('/').at(-1) ?? ''];
  return shared && !('$ref' in shared) ? shared : undefined;
}

interface ContainedProps {
  content: ContentObject;
  document: OpenApiDocument;
  /** With the fields, folded. */
  expanded: boolean;
}

function Contained({ content, document, expanded }: ContainedProps) {
  const [media] = Object.values(content);
  if (!media) return null;
  const alternatives = media.schema.anyOf ?? [media.schema];
  return (
    <>
      <p class="field-name">
        <Type schema={media.schema} /> <span class="type">as {Object.keys(content).join(', ')}</span>
      </p>
      {expanded &&
        alternatives
          .filter(({ $ref }) => $ref !== undefined)
          .map((schema) => (
            <details>
              <summary>Fields of {schema.$ref?.split('/').at(-1)}</summary>
              <Fields schema={resolved(schema, document)} />
            </details>
          ))}
      {Object.entries(media.examples ?? {}).map(([name, { value }]) => (
        <details>
          <summary>Example: {name}</summary>
          <pre tabindex={0}>
            <code>{JSON.stringify(value, null, 2)}</code>
          </pre>
        </details>
      ))}
    </>
  );
}

function NamedSchema({ name, schema }: { name: string; schema: JsonSchema }) {
  const id = schemaAnchor(name);
  return (
    <article id={id} class="operation" aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`}>
        <a href={`#${id}`}>{name}</a>
      </h3>
      {schema.description && <Text text={schema.description} />}
      <Fields schema={schema} />
    </article>
  );
}
