import { bareHost, isLoopback, shorten } from '../../contract/address.ts';
import { shellWord } from '../../contract/curl.ts';
import { GatewayError } from '../../contract/error.ts';
import { isOwnPage, readOrigin } from '../../contract/page-origin.ts';
import type { ServerRuntime } from '../environment.ts';

/** What a browser says of the page that sends a request. */
export interface PageHeaders {
  origin: string | undefined;
  /** `Sec-Fetch-Site`. */
  site: string | undefined;
  /** The `Host` that the request was sent to. */
  host: string | undefined;
}

/**
 * Why a request may not initiate: a stranger's page sends it from the browser of whoever runs the emulator (chosen:
 * initiate-foreign-origin*, initiate-null-origin, initiate-cross-site). What no browser sends has neither header.
 */
export function foreignPage(
  { origin, site, host }: PageHeaders,
  { settings, style }: Pick<ServerRuntime, 'settings' | 'style'>,
): GatewayError | undefined {
  const allowing = (value: string) => style.option({ option: 'allowOrigin', value });
  if (origin === undefined) {
    const isForeign = site === 'cross-site' || (site === 'same-site' && !isHere(host));
    if (!isForeign) return undefined;
    const asked = `send it from a page that names its Origin, and allow that with ${allowing('<origin>')}`;
    return refused(`a page of another site may not initiate without its Origin: ${asked}`);
  }
  const read = readOrigin(origin);
  if (read === undefined) {
    return refused(
      `the Origin "${shorten(origin)}" is none; ${allowing('<origin>')} lets a page initiate, such as https://shop.example`,
    );
  }
  if (isOwnPage(read, settings.pages)) return undefined;
  // Its host may hold what a shell obeys.
  const named = shellWord(read);
  return refused(`a page of ${read} may not initiate: if it is yours, start with ${allowing(named)}`);
}

/** Whether a request was sent to this machine: all of its ports are one site. */
function isHere(host = ''): boolean {
  return URL.canParse(`http://${host}`) && isLoopback(bareHost(new URL(`http://${host}`).hostname));
}

function refused(message: string): GatewayError {
  return new GatewayError('forbidden', message);
}
