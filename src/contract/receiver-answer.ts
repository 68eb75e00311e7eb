/*
 * What the answer of a receiver shows, for people (chosen). Status codes and error pages of the common frameworks are
 * known by how they look.
 */

/** What a receiver answered; null where it gave no status. */
export interface ReceiverAnswer {
  status: number | null;
  headers: readonly (readonly [string, string])[];
  body: string;
}

/** What is wrong, and what to do about it: a sentence each. */
export interface AnswerProblem {
  cause: string;
  cure: string;
}

/** An exception by its name and message, as frameworks print it over the frames. */
const EXCEPTION = /[\w\\.]*(?:Error|Exception): [^\n<]{1,160}/;

const ERROR_PAGES = [
  /(?:PHP )?(?:Fatal|Parse) error:.{0,160}/i,
  /Uncaught (?:\w*Error|\w*Exception).{0,160}/,
  /Traceback \(most recent call last\)/,
  /\bat (?:\S+ )?\(?(?:file:\/\/)?\/\S+\.(?:js|mjs|cjs|ts):\d+:\d+\)?/,
  /#\d+ \/\S+\.php\(\d+\)/,
];

/** The error of a program that a page shows; undefined when it shows none. */
export function errorPage(body: string): string | undefined {
  for (const pattern of ERROR_PAGES) {
    const found = pattern.exec(body)?.[0];
    if (found) return lastLineOf(body, found);
  }
  return undefined;
}

/** What happened: a Python traceback says it in its last line, a mere frame of a stack not at all. */
function lastLineOf(body: string, found: string): string {
  if (/^(?:at |#\d)/.test(found)) return [exceptionIn(body), found].filter(Boolean).join(', ');
  if (!found.startsWith('Traceback')) return found.trim();
  return plainText(body).trim().split('\n').at(-1)?.trim().slice(0, 160) ?? found;
}

/** What stands in one element of a page belongs together. */
function exceptionIn(body: string): string | undefined {
  return EXCEPTION.exec(plainText(body.replaceAll('<', '\n<')))?.[0].trim();
}

/** The title of an HTML page; undefined where there is none. */
function titleOf(body: string): string | undefined {
  const title = /<title[^<>]*>([^<]{1,200})/i.exec(body)?.[1];
  return title && plainText(title).trim();
}

function plainText(html: string): string {
  return html
    .replace(/<[^<>]*>/g, '')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&gt;', '>');
}

const POST_ROUTE = 'Give ipn_url a route that takes POST.';
const NO_CSRF = 'Except the route of ipn_url from CSRF protection: its signature is what protects it.';
const NO_LOGIN = 'Let the route of ipn_url be reached without a login or a session.';

const BY_STATUS: Readonly<Record<number, AnswerProblem>> = {
  401: { cause: 'The route asks for a login (401).', cure: NO_LOGIN },
  404: {
    cause: 'There is no such route (404), or no such order.',
    cure: 'Check the path of ipn_url, and that the shop knows the identifier.',
  },
  405: { cause: 'The route takes no POST (405).', cure: POST_ROUTE },
  413: {
    cause: 'The body is larger than the receiver takes (413).',
    cure: 'Raise the limit of the body: an IPN has about 500 bytes.',
  },
  415: {
    cause: 'The receiver does not read this content type (415).',
    cure: 'Read application/x-www-form-urlencoded, or let the emulator send JSON (--ipn-format json).',
  },
  419: { cause: 'The framework wants a CSRF token (419), which no gateway has.', cure: NO_CSRF },
};

/** Why an answer does not count as received; undefined where it does, or where the status says all that there is to say. */
export function answerProblem({ status, headers, body }: ReceiverAnswer): AnswerProblem | undefined {
  if (status === null) return undefined;
  if (status >= 300 && status < 400) return redirectProblem(headers);
  const fault = errorPage(body);
  if (status < 300) {
    return fault === undefined
      ? undefined
      : {
          cause: `The receiver answered ${status}, but its body is an error: ${fault}`,
          cure: 'Fix the error. Until then answer 500, so that the gateway tries again.',
        };
  }
  if (status === 403 && /csrf/i.test(body)) {
    return { cause: 'The framework wants a CSRF token (403), which no gateway has.', cure: NO_CSRF };
  }
  const told = fault ?? (status >= 500 ? (exceptionIn(body) ?? titleOf(body)) : undefined);
  if (told !== undefined) {
    return {
      cause: `The receiver broke (${status}): ${told}`,
      cure: 'Fix the error, then send the IPN again.',
    };
  }
  return BY_STATUS[status];
}

function redirectProblem(headers: ReceiverAnswer['headers']): AnswerProblem {
  const location = headers.find(([name]) => name.toLowerCase() === 'location')?.[1] ?? '';
  if (/log-?in|sign-?in|auth/i.test(location)) {
    return { cause: `The receiver redirected to a login page (${location}).`, cure: NO_LOGIN };
  }
  return {
    cause: `The receiver redirected to ${location || 'nowhere'}, and a gateway follows no redirects.`,
    cure: 'Give the final address as ipn_url.',
  };
}

/** Whether the body says that the IPN was refused, whatever the status: some receivers always answer 200 (observed: receiver-always-200). */
export function saysRefused(body: string): boolean {
  return /"ok"\s*:\s*false|\b(?:invalid|reject|refus|denied|mismatch|bad signature|not valid|forg)/i.test(
    body,
  );
}
