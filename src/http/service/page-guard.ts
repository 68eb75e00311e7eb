import { bareHost, isLoopback, shorten } from '../../contract/address.ts';
import { shellWord } from '../../contract/curl.ts';
import { GatewayError } from '../../contract/error.ts';
import { isOwnPage, readOrigin } from '../../contract/page-origin.ts';
import type { ServerRuntime } from '../environment.ts';

/** Headers with which a browser describes the page that sends a request. */
export interface PageHeaders {
  origin: string | undefined;
  /** `Sec-Fetch-Site`. */
  site: string | undefined;
  /** The `Host` that the request was sent to. */
  host: string | undefined;
}

/**
 * The error for a browser request from a foreign page (chosen: initiate-foreign-origin*, initiate-null-origin,
 * initiate-cross-site). Clients that are not browsers send neither header.
 */
export function foreignPage(
  { origin, site, host }: PageHeaders,
  { settings, style }: Pick<ServerRuntime, 'settings' | 'style'>,
): GatewayError | undefined {
  const allowing = (value: string) => style.option({ option: 'allowOrigin', value });
  if (origin === undefined) {
    const isForeign = site === 'cross-site' || (site === 'same-site' && !isHere(host));
    if (!isForeign) return undefined;
    const fix = `send the Origin header, and allow the origin with ${allowing('<origin>')}`;
    return refused(`a page on another site may not initiate payments without an Origin: ${fix}`);
  }
  const read = readOrigin(origin);
  if (read === undefined) {
    return refused(
      `invalid Origin "${shorten(origin)}": expected an origin such as https://shop.example, allowed with ${allowing('<origin>')}`,
    );
  }
  if (isOwnPage(read, settings.pages)) return undefined;
  // The host may contain shell syntax.
  const named = shellWord(read);
  return refused(
    `a page of ${read} may not initiate payments: if this is your site, start with ${allowing(named)}`,
  );
}

/** Whether a request was sent to this machine. For a browser, all of its ports are the same site. */
function isHere(host = ''): boolean {
  return URL.canParse(`http://${host}`) && isLoopback(bareHost(new URL(`http://${host}`).hostname));
}

function refused(message: string): GatewayError {
  return new GatewayError('forbidden', message);
}
