import { errorPage } from '../../contract/receiver-answer.ts';
import type { AuditCase, CaseText, Target } from '../case.ts';
import { refuses, takes } from '../case.ts';
import type { Observation } from '../client.ts';
import type { Ipn } from '../ipn.ts';

const HARM = 'Text that comes from a stranger reaches the database or a page as if it were code.';

const text = (name: string, about: string): CaseText => ({
  name,
  class: 'K',
  group: 'robustness',
  about,
  harm: HARM,
  mend: 'escape',
});

/** Each cannot mean an order; a markup that comes back unescaped shows in the answer. */
const HOSTILE = {
  sql: ["' OR '1'='1", "x' OR 1=1 -- ", '" OR ""="'],
  markup: ['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>'],
  template: ['{{7*7}}', '#{7*7}', '<%= 7*7 %>'],
  newline: ['a\r\nX-Injected: 1', 'a\u0000b'],
} as const;

const MARKUP = ['<script>alert(1)</script>', '<img src=x onerror=alert(1)>'];

function flaw({ status, body, headers }: Observation): string | undefined {
  if (status !== null && status >= 500) return `The handler broke on it: it answered ${status}. ${HARM}`;
  const fault = errorPage(body);
  if (fault !== undefined) return `The answer shows an error of the program: ${fault}. ${HARM}`;
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  const isPage = !/json|text\/plain/.test(type);
  if (isPage && MARKUP.some((markup) => body.includes(markup))) {
    return `The answer repeats the markup as it came. ${HARM}`;
  }
  if (headers.some(([name]) => name.toLowerCase() === 'x-injected'))
    return `A line break became a header. ${HARM}`;
  return undefined;
}

const signedAs =
  (identifier: string) =>
  (ipn: Ipn, { shop }: Target) =>
    ipn.set('identifier', identifier).signedWith(shop.parts.gateway.secretKey);

export const INJECTION: readonly AuditCase[] = [
  ...Object.entries(HOSTILE).map(([name, identifiers]) =>
    refuses(
      text(`identifier-${name}`, `A validly signed identifier that is ${name}.`),
      (target) => identifiers.map((identifier) => target.post(signedAs(identifier)(target.ipn, target))),
      flaw,
    ),
  ),
  takes(
    text('name-markup', 'A genuine IPN whose customer has quotes and markup in the name.'),
    ({ ipn, post }) => post(ipn.set('holder', `O'Brien "<script>alert(1)</script>"`)),
  ),
  takes(text('name-newline', 'A genuine IPN whose customer has a line break in the name.'), ({ ipn, post }) =>
    post(ipn.set('holder', 'Ada\r\nBcc: everybody@example.com')),
  ),
];
