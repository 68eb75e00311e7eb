import { errorPage } from '../../domain/receiver-answer.ts';
import { type AuditCase, accepts, family, rejects } from '../case.ts';
import type { Observation } from '../client.ts';

const HARM = 'Untrusted text reaches the database or a page as code.';

const text = family({ class: 'K', group: 'robustness', harm: HARM, mistake: 'input-not-escaped' });

/** By case: a description of the identifiers, then the identifiers, none of which can identify an order. */
const HOSTILE = {
  sql: ['SQL', "' OR '1'='1", "x' OR 1=1 -- ", '" OR ""="'],
  markup: ['markup', '<script>alert(1)</script>', '"><img src=x onerror=alert(1)>'],
  template: ['template code', '{{7*7}}', '#{7*7}', '<%= 7*7 %>'],
  newline: ['control characters', 'a\r\nX-Injected: 1', 'a\u0000b'],
} as const;

/** The response to this identifier is the baseline for all others. */
const UNKNOWN = 'no-such-order';

const MARKUP = ['<script>alert(1)</script>', '<img src=x onerror=alert(1)>'];

/** Signs of a crash in a response. */
const kindOf = ({ status, body }: Observation) => ({
  isBroken: status !== null && status >= 500,
  fault: errorPage(body),
});

/** A sign that the shop read the text as code. Its response to a plain unknown identifier has no such sign. */
function flaw(observation: Observation, plain: Observation): string | undefined {
  const { status, body, headers } = observation;
  const [here, there] = [kindOf(observation), kindOf(plain)];
  if (status === null && plain.status !== null) return `Your handler sent no response. ${HARM}`;
  if (here.isBroken && !there.isBroken) return `Your handler crashed and answered ${status}. ${HARM}`;
  if (here.fault !== undefined && there.fault === undefined)
    return `The response shows an error from your code: ${here.fault}. ${HARM}`;
  if (observation.durationMs > plain.durationMs + DELAY_MS)
    return `The response took ${Math.round(observation.durationMs)} ms, compared with ${Math.round(plain.durationMs)} ms for a plain identifier. ${HARM}`;
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  const isPage = !/json|text\/plain/.test(type);
  if (isPage && MARKUP.some((markup) => body.includes(markup))) {
    return `The response repeats the markup unescaped. ${HARM}`;
  }
  if (headers.some(([name]) => name.toLowerCase() === 'x-injected'))
    return `A line break in the identifier became a response header. ${HARM}`;
  return undefined;
}

/** A response that takes this much longer shows that an injected sleep ran. */
const DELAY_MS = 4_000;

export const INJECTION: readonly AuditCase[] = [
  ...Object.entries(HOSTILE).map(([name, [what, ...identifiers]]) =>
    rejects(
      text(`identifier-${name}`, `A validly signed IPN whose identifier contains ${what}.`),
      ({ ipn, shop }) =>
        [UNKNOWN, ...identifiers].map((identifier) =>
          ipn.set('identifier', identifier).signedWith(shop.parts.gateway.secretKey),
        ),
      flaw,
    ),
  ),
  accepts(text('name-markup', 'A genuine IPN with quotes and markup in the customer name.'), ({ ipn }) =>
    ipn.set('holder', `O'Brien "<script>alert(1)</script>"`),
  ),
  accepts(text('name-newline', 'A genuine IPN with a line break in the customer name.'), ({ ipn }) =>
    ipn.set('holder', 'Ada\r\nBcc: everybody@example.com'),
  ),
];
