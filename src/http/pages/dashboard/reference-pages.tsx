import { raw } from 'hono/html';
import type { OpenApiDocument } from '../../openapi.ts';
import type { CurlFacts } from '../reference-operation.tsx';
import { type Page, type PageRenderer, PLACES, pageAt, UI } from './page.tsx';

/** A half of the reference. */
type Half = 'operations' | 'schemas';

const PATHS: Readonly<Record<Half, string>> = {
  operations: PLACES.reference.path,
  schemas: `${UI}/schemas`,
};

/** The pages of the OpenAPI document, by their paths. */
export function referencePages(document: () => Promise<OpenApiDocument>): Record<string, PageRenderer> {
  return {
    [PATHS.operations]: keptPage('operations', document),
    [PATHS.schemas]: keptPage('schemas', document),
  };
}

/**
 * What a page is made of is loaded only when it is asked for: a start has no time for it. It takes a tenth of a second
 * to render, so it is kept until one of its facts changes.
 */
function keptPage(half: Half, document: () => Promise<OpenApiDocument>): PageRenderer {
  let kept: { facts: string; page: Promise<Page> } | undefined;
  return ({ parts: { merchants, runtime } }) => {
    const facts = {
      baseUrl: runtime.baseUrl(),
      publicKey: merchants.default.publicKey,
      asksForToken: runtime.controlToken !== null,
    };
    const text = JSON.stringify(facts);
    if (kept?.facts === text) return kept.page;
    const page = render(half, document, facts);
    kept = { facts: text, page };
    page.catch(() => {
      kept = undefined;
    });
    return page;
  };
}

async function render(half: Half, document: () => Promise<OpenApiDocument>, facts: CurlFacts): Promise<Page> {
  const [openApi, { Reference, Schemas }, { default: styles }] = await Promise.all([
    document(),
    import('../reference.tsx'),
    import('../assets/reference.css?text'),
  ]);
  const content =
    half === 'operations' ? <Reference document={openApi} facts={facts} /> : <Schemas document={openApi} />;
  const page = pageAt('reference', raw(String(content)));
  return { ...page, path: PATHS[half], isStill: true, styles };
}
