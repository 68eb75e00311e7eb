import type { JsonSchema } from '../../contract/field.ts';
import { nameAt } from '../../contract/json-schema.ts';
import type { Source } from '../../contract/vocabulary.ts';
import type { OpenApiDocument } from '../openapi.ts';
import type { OperationObject } from '../openapi-operation.ts';
import { type CurlFacts, curlOf } from './reference-curl.ts';
import { Fields, SourceMark, schemaAnchor, Text } from './reference-fields.tsx';
import { breakable, type Entry, Operation } from './reference-operation.tsx';

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
export function Reference({ document, facts }: { document: OpenApiDocument; facts: CurlFacts }) {
  const groups = groupsOf(document, facts);
  const schemas = Object.entries(document.components.schemas);
  const sent = new Set(
    groups.flatMap(({ entries }) => entries.flatMap(({ operation }) => bodyOf(operation))),
  );
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
            <NamedSchema name={name} schema={schema} sent={sent.has(name)} />
          ))}
        </section>
      </div>
    </div>
  );
}

function groupsOf(document: OpenApiDocument, facts: CurlFacts): Group[] {
  const entries: Entry[] = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      return { method, path, operation, curl: curlOf(method, path, operation, facts) };
    }),
  );
  entries.push({ method: 'post', path: '{ipn_url}', operation: document.webhooks.ipn.post, curl: null });
  return document.tags.map(({ name, description }) => ({
    name,
    description,
    entries: entries.filter(({ operation }) => operation.tags[0] === name),
  }));
}

/** The names of the schemas that a request is made of. */
function bodyOf({ requestBody }: OperationObject): string[] {
  const references = Object.values(requestBody?.content ?? {}).map(({ schema }) => schema.$ref);
  return references.flatMap((reference) => (reference === undefined ? [] : nameAt(reference)));
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

function NamedSchema({ name, schema, sent }: { name: string; schema: JsonSchema; sent: boolean }) {
  const id = schemaAnchor(name);
  return (
    <article id={id} class="operation" aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`}>
        <a href={`#${id}`}>{name}</a>
      </h3>
      {schema.description && <Text text={schema.description} />}
      <Fields schema={schema} sent={sent} />
    </article>
  );
}
