import type { AppParts } from '../../environment.ts';
import type { OpenApiDocument } from '../../openapi.ts';
import { renderPage } from './frame.tsx';
import { pageAt } from './page.ts';

/** The page of the OpenAPI document. What it is made of is loaded only now: a start has no time for it. */
export async function referencePage(
  parts: AppParts,
  nonce: string,
  document: () => Promise<OpenApiDocument>,
): Promise<string> {
  const [openApi, { Reference }, { default: REFERENCE_STYLES }] = await Promise.all([
    document(),
    import('../reference.tsx'),
    import('../assets/reference.css?text'),
  ]);
  const { merchants, runtime } = parts;
  const curl = {
    baseUrl: runtime.baseUrl(),
    publicKey: merchants.default.publicKey,
    asksForToken: runtime.controlToken !== null,
  };
  return renderPage(parts, nonce, {
    ...pageAt('reference', <Reference document={openApi} facts={curl} />),
    isStill: true,
    styles: REFERENCE_STYLES,
  });
}
