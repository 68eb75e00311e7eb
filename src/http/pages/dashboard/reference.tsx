import { defaultMerchant } from '../../../domain/merchant.ts';
import type { AppParts } from '../../environment.ts';
import type { OpenApiDocument } from '../../openapi.ts';
import { renderPage } from './frame.tsx';
import { PLACES } from './navigation.ts';

/** The page of the OpenAPI document. What it is made of is loaded only now: a start has no time for it. */
export async function referencePage(
  parts: AppParts,
  nonce: string,
  document: () => Promise<OpenApiDocument>,
): Promise<string> {
  const [openApi, { Reference }, { REFERENCE_STYLES }] = await Promise.all([
    document(),
    import('../reference.tsx'),
    import('../reference-styles.ts'),
  ]);
  const { gateway, facts } = parts;
  const curl = {
    baseUrl: facts.baseUrl(),
    publicKey: defaultMerchant(gateway.state).publicKey,
    asksForToken: facts.controlToken !== null,
  };
  return renderPage(parts, nonce, {
    place: 'reference',
    title: 'API reference',
    path: PLACES.reference.path,
    problem: null,
    isStill: true,
    styles: REFERENCE_STYLES,
    children: <Reference document={openApi} facts={curl} />,
  });
}
