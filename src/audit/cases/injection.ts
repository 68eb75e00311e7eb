import { errorPage } from '../../contract/receiver-answer.ts';
import { type AuditCase, family, refuses, takes } from '../case.ts';
import type { Observation } from '../client.ts';

const HARM = 'Text that comes from a stranger reaches the database or a page as if it were code.';

const text = family({ class: 'K', group: 'robustness', harm: HARM, mistake: 'input-not-escaped' });

/** Each cannot mean an order; a markup that comes back unescaped shows in the answer. */
const HOSTILE = {
  sql: ["' OR '1'='1", "x' OR 1=1 -- ", '" OR ""="'],
  markup: ['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>'],
  template: ['{{7*7}}', '#{7*7}', '<%= 7*7 %>'],
  newline: ['a\r\nX-Injected: 1', 'a\u0000b'],
} as const;

/** What the answers to all others are compared with. */
const UNKNOWN = 'no-such-order';

const MARKUP = ['<script>alert(1)</script>', '<img src=x onerror=alert(1)>'];

/** How a shop answers an identifier that it does not know, as far as breaking goes. */
const kindOf = ({ status, body }: Observation) => ({
  isBroken: status !== null && status >= 500,
  fault: errorPage(body),
});

/** What shows that the text was read as code: what the answer to a plain unknown identifier does not show. */
function flaw(observation: Observation, plain: Observation): string | undefined {
  const { status, body, headers } = observation;
  const [here, there] = [kindOf(observation), kindOf(plain)];
  if (status === null && plain.status !== null) return `The handler gave no answer to it. ${HARM}`;
  if (here.isBroken && !there.isBroken) return `The handler broke on it: it answered ${status}. ${HARM}`;
  if (here.fault !== undefined && there.fault === undefined)
    return `The answer shows an error of the program: ${here.fault}. ${HARM}`;
  if (observation.durationMs > plain.durationMs + DELAY_MS)
    return `The answer took ${Math.round(observation.durationMs)} ms, that to a plain identifier ${Math.round(plain.durationMs)} ms. ${HARM}`;
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  const isPage = !/json|text\/plain/.test(type);
  if (isPage && MARKUP.some((markup) => body.includes(markup))) {
    return `The answer repeats the markup as it came. ${HARM}`;
  }
  if (headers.some(([name]) => name.toLowerCase() === 'x-injected'))
    return `A line break became a header. ${HARM}`;
  return undefined;
}

/** So much longer a query that sleeps takes. */
const DELAY_MS = 4_000;

export const INJECTION: readonly AuditCase[] = [
  ...Object.entries(HOSTILE).map(([name, identifiers]) =>
    refuses(
      text(`identifier-${name}`, `A validly signed identifier that is ${name}.`),
      ({ ipn, shop }) =>
        [UNKNOWN, ...identifiers].map((identifier) =>
          ipn.set('identifier', identifier).signedWith(shop.parts.gateway.secretKey),
        ),
      flaw,
    ),
  ),
  takes(text('name-markup', 'A genuine IPN whose customer has quotes and markup in the name.'), ({ ipn }) =>
    ipn.set('holder', `O'Brien "<script>alert(1)</script>"`),
  ),
  takes(text('name-newline', 'A genuine IPN whose customer has a line break in the name.'), ({ ipn }) =>
    ipn.set('holder', 'Ada\r\nBcc: everybody@example.com'),
  ),
];
