import type { Child } from 'hono/jsx';
import { nameAt } from '../../contract/json-schema.ts';
import type { Source } from '../../contract/vocabulary.ts';
import type { OpenApiDocument } from '../openapi.ts';
import type { OperationObject } from '../openapi-operation.ts';
import { Fields, SourceMark, schemaAnchor, Text } from './reference-fields.tsx';
import { type CurlFacts, Operation } from './reference-operation.tsx';

/** A part of the page: the operations of one group, or the schemas. */
interface Section {
  name: string;
  description: string;
  entries: { id: string; link: Child; title: Child; content: Child }[];
}

const MEANING: Readonly<Record<Source, string>> = {
  documented: 'The service interface says so.',
  observed: 'Published clients or deployments of it show it.',
  chosen: 'Ours, where the interface leaves a choice.',
};

/** The OpenAPI document as a page: every operation with what it takes and answers, and every schema. */
export function Reference({ document, facts }: { document: OpenApiDocument; facts: CurlFacts }) {
  const sections = sectionsOf(document, facts);
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
      <Contents sections={sections} />
      <div class="operations">
        {sections.map(({ name, description, entries }) => (
          <section aria-labelledby={anchor(name)}>
            <h2 id={anchor(name)}>{name}</h2>
            <p>{description}</p>
            {entries.map(({ id, title, content }) => (
              <article id={id} class="operation" aria-labelledby={`${id}-title`}>
                <h3 id={`${id}-title`}>
                  <a href={`#${id}`}>{title}</a>
                </h3>
                {content}
              </article>
            ))}
          </section>
        ))}
      </div>
    </div>
  );
}

/** Not called nav: the page's own navigation is. */
function Contents({ sections }: { sections: readonly Section[] }) {
  return (
    <nav class="contents" aria-label="Operations and schemas">
      <ul>
        {sections.map(({ name, entries }) => (
          <li>
            <a href={`#${anchor(name)}`}>{name}</a>
            <ul>
              {entries.map(({ id, link }) => (
                <li>
                  <a href={`#${id}`}>{link}</a>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function sectionsOf(document: OpenApiDocument, facts: CurlFacts): Section[] {
  const listed = Object.entries({ ...document.paths, '{ipn_url}': document.webhooks.ipn }).flatMap(
    ([path, item]) => Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
  );
  const sent = new Set(listed.flatMap(({ operation }) => bodyNames(operation)));
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) => ({
    id: schemaAnchor(name),
    link: name,
    title: name,
    content: (
      <>
        {schema.description && <Text text={schema.description} />}
        <Fields schema={schema} sent={sent.has(name)} />
      </>
    ),
  }));
  const groups = document.tags.map(({ name, description }) => ({
    name,
    description,
    entries: listed
      .filter(({ operation }) => operation.tags[0] === name)
      .map((one) => ({
        id: one.operation.operationId,
        link: <Target {...one} />,
        title: <Target {...one} isTitle />,
        content: <Operation {...one} document={document} facts={facts} />,
      })),
  }));
  const description =
    'What requests and answers are made of. An answer may get more fields in a later version.';
  return [...groups, { name: 'Schemas', description, entries: schemas }];
}

/** Method and path. A path may be broken behind its slashes. */
function Target({ method, path, isTitle = false }: { method: string; path: string; isTitle?: boolean }) {
  const parts = path.split(/(?<=\/)/).flatMap((part) => [part, <wbr />]);
  return (
    <>
      <span class={isTitle ? `verb ${method}` : 'verb'}>{method.toUpperCase()}</span>{' '}
      {isTitle ? <code>{parts}</code> : parts}
    </>
  );
}

/** The names of the schemas that a request is made of. */
function bodyNames({ requestBody }: OperationObject): string[] {
  return Object.values(requestBody?.content ?? {}).map(({ schema }) => nameAt(schema.$ref ?? ''));
}

/** `Control: what happened` → `control-what-happened`. */
function anchor(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}
