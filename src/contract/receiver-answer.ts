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
  /** `warning` where it counts as received all the same. Default: `bad`. */
  tone?: 'warning';
  cause: string;
  /** What happened in at most ten words. Default: the cause. */
  headline?: string;
  fix: string;
}

/** An exception by its name and message, as frameworks print it over the frames. Bounded, as a body may be one long word. */
const EXCEPTION = /(?<![\w\\.])[\w\\.]{0,120}(?:Error|Exception): [^\n<]{1,160}/;

const ERROR_PAGES = [
  /(?:PHP )?(?:Fatal|Parse) error:.{0,160}/i,
  /Uncaught (?:\w*Error|\w*Exception).{0,160}/,
  /Traceback \(most recent call last\)/,
  /\bat (?:\S+ )?\(?(?:file:\/\/)?\/\S+\.(?:js|mjs|cjs|ts):\d+:\d+\)?/,
  /#\d+ \/\S+\.php\(\d+\)/,
  /There has been a critical error on this website/,
];

/** The error of a program that a page shows; undefined when it shows none. */
export function errorPage(body: string): string | undefined {
  for (const pattern of ERROR_PAGES) {
    const found = pattern.exec(body)?.[0];
    if (found) return lastLineOf(body, found);
  }
  return undefined;
}

/** What happened: a Python traceback says it below its frames, a mere frame of a stack not at all. */
function lastLineOf(body: string, found: string): string {
  if (/^(?:at |#\d)/.test(found))
    return [exceptionIn(body) ?? titleOf(body), found].filter(Boolean).join(', ');
  if (!found.startsWith('Traceback')) return found.trim();
  const [, frames = ''] = plainText(body).split('Traceback (most recent call last)', 2);
  return BELOW_FRAMES.exec(frames)?.[1] ?? titleOf(body) ?? found;
}

/** The name of an exception at the beginning of a line, and its message. */
const BELOW_FRAMES = /^([A-Za-z_][\w.]{0,120}(?:: .{1,160})?)$/m;

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
    .replaceAll('<!--', '')
    .replace(/<[^<>]*>/g, '')
    .replace(/&#(?:39|x27);/g, "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

/** What went wrong in the receiver's own words: a member of its JSON, or all of a short text. */
export function ownWords(body: string): string | undefined {
  const text = body.trim();
  if (!text.startsWith('{')) return text.length <= 120 && /^[^<>\n]+$/.test(text) ? text : undefined;
  const words = ['exception', 'error', 'message']
    .map((name) => new RegExp(`"${name}"\\s*:\\s*"((?:[^"\\\\]|\\\\.){1,160})"`).exec(text)?.[1])
    .filter((word) => word !== undefined);
  return [...new Set(words)].join(': ').replaceAll('\\', '') || undefined;
}

/** What an error page without an exception says of itself: its heading where that names one, else its title. */
function headline(body: string): string | undefined {
  const heading = /<h1[^<>]*>([^<]{1,200})/i.exec(body)?.[1];
  const named =
    heading !== undefined && /Error|Exception/.test(heading) ? plainText(heading).trim() : undefined;
  return named ?? titleOf(body) ?? (body.trim().startsWith('{') ? ownWords(body) : undefined);
}

const POST_ROUTE = 'Give ipn_url a route that takes POST.';
const NO_CSRF = 'Except the route of ipn_url from CSRF protection: its signature is what protects it.';
const NO_LOGIN = 'Let the route of ipn_url be reached without a login or a session.';

const wantsToken = (status: number): AnswerProblem => ({
  cause: `The framework wants a CSRF token (${status}), which no gateway has.`,
  headline: `Your framework wants a CSRF token (${status}).`,
  fix: NO_CSRF,
});

const brokenProxy = (status: number): AnswerProblem => ({
  cause: `A proxy answered in place of your receiver (${status}), which gave it no answer.`,
  headline: `A proxy answered in place of your receiver (${status}).`,
  fix: 'Start the app behind the proxy, and look at its log.',
});

const BY_STATUS: Readonly<Record<number, AnswerProblem>> = {
  401: { cause: 'The route asks for a login (401).', fix: NO_LOGIN },
  404: {
    cause: 'There is no such route (404), or no such order.',
    fix: 'Check the path of ipn_url, and that the shop knows the identifier.',
  },
  405: { cause: 'The route takes no POST (405).', fix: POST_ROUTE },
  413: {
    cause: 'The body is larger than the receiver takes (413).',
    fix: 'Raise the limit of the body: an IPN has about 500 bytes.',
  },
  415: {
    cause: 'The receiver does not read this content type (415).',
    fix: 'Read application/x-www-form-urlencoded, or let the emulator send JSON (--ipn-format json).',
  },
  429: {
    cause: 'The receiver limits how many requests it takes (429).',
    fix: 'Let the route of ipn_url be called as often as the gateway sends.',
  },
  502: brokenProxy(502),
  504: brokenProxy(504),
  419: wantsToken(419),
};

/** Why an answer does not count as received; undefined where it does, or where the status says all that there is to say. */
export function answerProblem({ status, headers, body }: ReceiverAnswer): AnswerProblem | undefined {
  if (status === null) return undefined;
  if (status >= 300 && status < 400) return redirectProblem(headers);
  const fault = errorPage(body);
  if (status < 300) {
    if (fault === undefined) return loginPage(status, body) ?? phpWarning(status, body);
    return {
      cause: `The receiver answered ${status}, but its body is an error: ${fault}`,
      headline: `Your receiver answered ${status}, but with an error.`,
      fix: 'Fix the error. Until then answer 500, so that the gateway tries again.',
    };
  }
  // What it says about the signature comes from code behind any login.
  if (status === 401 && /\b(?:signature|hmac|hash)\b/i.test(body)) return undefined;
  if (status < 500 && /csrf|authenticity.?token/i.test(body)) return wantsToken(status);
  const known = BY_STATUS[status];
  const thrown = fault ?? (status >= 500 ? exceptionIn(body) : undefined);
  // Frameworks show an error page for some statuses below 500 too, where there is no error in the code to fix.
  if (known && (status < 500 || thrown === undefined)) return known;
  const told = thrown ?? (status >= 500 ? headline(body) : undefined);
  if (told === undefined) return undefined;
  return {
    cause: `The receiver broke (${status}): ${told}`,
    headline: `Your receiver broke (${status}).`,
    fix: 'Fix the error, then send the IPN again.',
  };
}

function redirectProblem(headers: ReceiverAnswer['headers']): AnswerProblem {
  const location = headers.find(([name]) => name.toLowerCase() === 'location')?.[1] ?? '';
  if (/log-?in|sign-?in|\bo?auth\b|\bsso\b|\bsession/i.test(location)) {
    return { cause: `The receiver redirected to a login page (${location}).`, fix: NO_LOGIN };
  }
  return {
    cause: `The receiver redirected to ${location || 'nowhere'}, and a gateway follows no redirects.`,
    headline: 'Your receiver redirected. A gateway does not follow.',
    fix: 'Give the final address as ipn_url.',
  };
}

function loginPage(status: number, body: string): AnswerProblem | undefined {
  if (!/<input[^<>]{1,200}type=["']?password/i.test(body)) return undefined;
  return { cause: `The receiver answered ${status} with a login page.`, fix: NO_LOGIN };
}

/** As PHP prints it with display_errors on. */
const PHP_WARNING = /\b(?:Warning|Notice|Deprecated)(?:<\/b>)?: .{1,300}? on line (?:<b>)?\d+/;

function phpWarning(status: number, body: string): AnswerProblem | undefined {
  const found = PHP_WARNING.exec(body)?.[0];
  if (found === undefined) return undefined;
  return {
    tone: 'warning',
    cause: `The receiver answered ${status}, and PHP warned: ${plainText(found)}.`,
    headline: `Your receiver answered ${status}, but PHP warned.`,
    fix: 'Fix what PHP warns about: the code may have read nothing where it expected a value.',
  };
}

const SAYS_NO =
  /"(?:ok|success|valid|verified|accepted)"\s*:\s*(?:false|0)|"status"\s*:\s*"(?:error|fail)|\b(?:invalid|reject|refus|denied|mismatch|(?:bad|wrong) signature|not valid|forg)|(?:\bnot|n['’]t) match/i;

/** Whether the body says that the IPN was refused, whatever the status: some receivers always answer 200 (observed: receiver-always-200). */
export function saysRefused(body: string): boolean {
  // Neither the pseudo class of a style nor a member that says that nothing is wrong.
  const said = body
    .replace(/<(?:style|script)\b[^<]*/gi, '')
    .replace(/"(?!ok"|success"|valid"|verified"|accepted")\w+"\s*:\s*(?:false|null|0|""|\[\s*\])/gi, '');
  return SAYS_NO.test(said);
}
