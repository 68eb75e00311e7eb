import type { Child } from 'hono/jsx';
import { nameAt } from '../../contract/json-schema.ts';
import { namesOf, type Source } from '../../contract/vocabulary.ts';
import type { OpenApiDocument } from '../openapi.ts';
import type { OperationObject } from '../openapi-operation.ts';
import { Fields, SourceMark, schemaAnchor, Text } from './reference-fields.tsx';
import { type CurlFacts, ERRORS, ErrorMeanings, Operation } from './reference-operation.tsx';

/** A part of a page: the operations of one group, or the schemas. */
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

/** The OpenAPI document as a page: every operation with what it takes and answers. */
export function Reference({ document, facts }: { document: OpenApiDocument; facts: CurlFacts }) {
  return (
    <Layout title="API reference" sections={operationsOf(document, facts)} errors={document}>
      <p>
        The emulated service and the control API, as this emulator answers them at{' '}
        <code>{facts.baseUrl}</code>. What they are made of: <a href="schemas">schemas</a>. The same for
        programs: <a href="/_sim/openapi.json">openapi.json</a>.
      </p>
    </Layout>
  );
}

/** The other half of the document: every schema. */
export function Schemas({ document }: { document: OpenApiDocument }) {
  return (
    <Layout title="Schemas" sections={schemasOf(document)}>
      <p>
        What requests and answers of the <a href="reference">API</a> are made of. An answer may get more
        fields in a later version.
      </p>
    </Layout>
  );
}

interface LayoutProps {
  title: string;
  sections: readonly Section[];
  /** The document whose errors are listed. */
  errors?: OpenApiDocument;
  children: Child;
}

function Layout({ title, sections, errors, children }: LayoutProps) {
  return (
    <div class="reference">
      <div class="intro">
        <h1>{title}</h1>
        {children}
        <ul class="legend">
          {namesOf(MEANING).map((source) => (
            <li>
              <SourceMark source={source} /> {MEANING[source]}
            </li>
          ))}
        </ul>
      </div>
      <Contents sections={sections} hasErrors={errors !== undefined} />
      <div class="operations">
        {sections.map(({ name, description, entries }) => (
          <section aria-labelledby={anchor(name)}>
            <h2 id={anchor(name)}>{name}</h2>
            {description && <p>{description}</p>}
            {entries.map(({ id, title, content }) => (
              <article id={id} class="operation">
                <h3>
                  <a href={`#${id}`}>{title}</a>
                </h3>
                {content}
              </article>
            ))}
          </section>
        ))}
        {errors && <ErrorMeanings document={errors} />}
      </div>
    </div>
  );
}

/** Not called nav: the page's own navigation is. */
function Contents({ sections, hasErrors }: { sections: readonly Section[]; hasErrors: boolean }) {
  return (
    <nav class="contents" aria-label="On this page">
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
        {hasErrors && (
          <li>
            <a href={`#${ERRORS}`}>Errors</a>
          </li>
        )}
      </ul>
    </nav>
  );
}

function listed(document: OpenApiDocument) {
  return Object.entries({ ...document.paths, '{ipn_url}': document.webhooks.ipn }).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
  );
}

function operationsOf(document: OpenApiDocument, facts: CurlFacts): Section[] {
  return document.tags.map(({ name, description }) => ({
    name,
    description,
    entries: listed(document)
      .filter(({ operation }) => operation.tags[0] === name)
      .map((one) => ({
        id: one.operation.operationId,
        link: <Target {...one} />,
        title: <Target {...one} isTitle />,
        content: <Operation {...one} document={document} facts={facts} />,
      })),
  }));
}

function schemasOf(document: OpenApiDocument): Section[] {
  const sent = new Set(listed(document).flatMap(({ operation }) => bodyNames(operation)));
  const entries = Object.entries(document.components.schemas).map(([name, schema]) => ({
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
  return [{ name: 'All schemas', description: '', entries }];
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
