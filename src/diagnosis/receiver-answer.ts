import { FIX_BASE64, FIX_FORM, FIX_HTTP2, FIX_NESTED } from '../contract/describe-delivery.ts';
import { headerIn } from '../contract/headers.ts';
import { FORM_TYPE } from '../contract/media-types.ts';
import { namesOf } from '../contract/vocabulary.ts';
import { linesOfPage, onOneLine, ownWords, plainText, quoted, saysNothing } from './receiver-words.ts';

// For the audit, whose door to the words is this file.
export { linesOfPage, ownWords };

/*
 * Explains the response of a receiver (chosen). Recognizes the status codes and error pages of common frameworks.
 */

interface ReceiverAnswer {
  status: number | null;
  headers: readonly (readonly [string, string])[];
  body: string;
}

/** What is wrong and the fix, in one sentence each. */
export interface AnswerProblem {
  /** `warning` if the IPN still counts as received. Default: `bad`. */
  tone?: 'warning';
  cause: string;
  /** The problem in at most ten words. Default: the cause. */
  headline?: string;
  fix: string;
}

/** The name of an exception before its message. Bounded, because words may be one long word. */
const EXCEPTION = /(?<![\w\\.])[\w\\.]{0,120}(?:Error|Exception): /;

/** What shows code. */
const SHOWN_ERRORS = [
  /(?:PHP )?(?:Fatal|Parse) error:.{0,160}/i,
  /Uncaught (?:\w*Error|\w*Exception).{0,160}/,
  /Traceback \(most recent call last\)/,
  /\bat (?:\S+ )?\(?(?:file:\/\/)?\/\S+\.(?:js|mjs|cjs|ts):\d+:\d+\)?/,
  /#\d+ \/\S+\.php\(\d+\)/,
];

/** A fixed text, which shows that the code failed, but nothing of it. */
const FIXED_TEXT = /There has been a critical error on this website/;

/** The error of a program that a body shows with its message or a place in the code; undefined if there is none. */
export function shownError(body: string): string | undefined {
  for (const pattern of SHOWN_ERRORS) {
    const found = pattern.exec(body)?.[0];
    if (found) return messageOf(found, body);
  }
  return undefined;
}

/** The program error of which a page tells; undefined if there is none. */
export function errorPage(body: string): string | undefined {
  return shownError(body) ?? FIXED_TEXT.exec(body)?.[0];
}

/** The message of an error that shows itself in a text. */
function messageOf(found: string, body: string): string {
  const words = ownWords(body);
  // A frame has no message, but tells the place.
  if (/^(?:at |#\d)/.test(found)) return [words, found].filter(Boolean).join(', ');
  if (!found.startsWith('Traceback')) return found.trim();
  const [, type, value = ''] = OF_DJANGO.exec(plainText(body)) ?? [];
  return type === undefined ? (words ?? found) : `${type}: ${onOneLine(value)}`;
}

/** Django prints the exception in two lines below the frames. */
const OF_DJANGO =
  /^Exception Type: ([\w.]{1,120}).{0,300}\nException Value: (.{1,400}(?:\n\S.{0,200}){0,3})$/m;

/** Some shops have no route for IPNs, and pay on the customer's return (observed: receiver-get-only, receiver-paid-by-visit). */
const OR_VISIT =
  'If your shop pays when the customer returns instead, that visit is what it waits for: open success_url, or settle with pay --approve --visit.';
const NO_CSRF = 'Exempt the route of ipn_url from CSRF protection: the signature protects it.';
const NO_LOGIN =
  'Make the route of ipn_url accessible without a login, a session or a token: the signature protects it.';

const FIND_ORDER = 'Look the order up by identifier, exactly as you sent it when you initiated the payment.';

const NO_ORDER = `A value is missing there, usually the order. ${FIND_ORDER}`;
/** In a program error, the order that was not found. A body that was not read is undefined, and has a `get` in Python. */
const NULL_ORDER = /\b(?:of|on) null\b|'NoneType' object has no attribute '(?!get')|\bfor nil\b/;
const MISSING_AMOUNT = missing('data|amount');
const MISSING_FIELD = missing('signature|identifier|status');

/** What the words of a receiver name, and the fix for it. */
const FIXES_BY_REASON: readonly (readonly [names: RegExp, fix: string])[] = [
  [/\bslash\b/i, 'End the path of ipn_url with a slash, or accept it without one: a redirect loses a POST.'],
  [
    /ALLOWED_HOSTS|HTTP_HOST|DisallowedHost|\bhost\b.{0,40}\bnot allowed|blocked (?:host|request)/i,
    'Allow the host of ipn_url in the settings of your framework.',
  ],
  // The body was not read as a form.
  [
    /unexpected token|in JSON|reading ['"]?data\b|\bbody (?:is|was) (?:undefined|null|missing|empty)/i,
    FIX_FORM,
  ],
  [
    /unauthenticated|not authenticated|authentication|\b(?:log|sign)[- ]?in\b|credentials|\bbearer\b|\bapi.?key\b|\bjwt\b|\btoken\b/i,
    NO_LOGIN,
  ],
  [NULL_ORDER, NO_ORDER],
  [MISSING_AMOUNT, FIX_NESTED],
  [MISSING_FIELD, `${FIX_FORM} In a function: ${FIX_BASE64}`],
  // In a program error: no field of the IPN is called so.
  [/\b(?:of|on) undefined\b/, NO_ORDER],
  [
    missing('fields?|parameters?|propert(?:y|ies)|attributes?|headers?|keys?'),
    'An IPN has only the fields status, signature, identifier and data[…]. Do not require another one.',
  ],
  [/\bJSON\b|valid dictionary|expected object|must be (?:an )?object|content.type/i, FIX_FORM],
  [
    /\b(?:number|numeric|integer|decimal|float|digits)\b/i,
    'The values of a form are text, such as 49.90. Accept text, and convert it yourself. An identifier is text, too.',
  ],
];

/** Matches a sentence that says that one of these is missing. */
function missing(names: string): RegExp {
  const before = 'KeyError|undefined (?:array )?(?:key|index)|reading|missing|required|no';
  const after =
    'required|missing|undefined|null|not present|blank|empty|expected (?:object|string)|valid (?:dictionary|object)';
  return new RegExp(
    `\\b(?:${before})\\b[^.]{0,40}\\b(?:${names})\\b|\\b(?:${names})\\b.{0,40}\\b(?:${after})\\b`,
    'i',
  );
}

/** A check of a handler that may fail, and how to do it right. */
interface Check {
  names: RegExp;
  what: string;
  how: string;
}

const CHECKS: readonly Check[] = [
  {
    names: /amount|total|price/i,
    what: 'the comparison of the amount',
    how: 'Compare data[amount] with the total of the order as decimal numbers, in the same unit. In cents, round: 49.90 is 4990.',
  },
  {
    names: /currenc/i,
    what: 'the comparison of the currency',
    how: 'Compare data[currency][code], such as USD, with the currency of the order.',
  },
  {
    names: /\bstatus\b(?! \d)/i,
    what: 'the check of the status',
    how: 'A payment succeeded if its status is exactly success.',
  },
  {
    names: /\border\b(?! to\b)|not found|unknown/i,
    what: 'the look-up of the order',
    how: FIND_ORDER,
  },
];

/** The fix for the reason in the words of a receiver of a form; undefined if they name none that is known. */
export const fixForReason = (words: string): string | undefined =>
  FIXES_BY_REASON.find(([names]) => names.test(words))?.[1];

/** The check that the words of a receiver are about; undefined if it is that of the signature or not known. */
export const checkNamedIn = (words: string): Pick<Check, 'what' | 'how'> | undefined =>
  /signature|hmac|hash/i.test(words) ? undefined : CHECKS.find(({ names }) => names.test(words));

function withoutPost(status: number): AnswerProblem {
  return {
    cause: `The route does not accept POST (${status}).`,
    fix: `Use a route that accepts POST as ipn_url. ${OR_VISIT}`,
  };
}

const wantsToken = (status: number): AnswerProblem => ({
  cause: `The framework expects a CSRF token (${status}), which no gateway sends.`,
  fix: `${NO_CSRF} ${OR_VISIT}`,
});

const BY_STATUS: Readonly<Record<number, AnswerProblem>> = {
  404: {
    cause: 'The route or the order does not exist (404).',
    fix: 'Check the path of ipn_url, and that the shop knows the identifier.',
  },
  405: withoutPost(405),
  413: {
    cause: 'The body is larger than your handler accepts (413).',
    fix: 'Raise the body limit: an IPN is about 500 bytes.',
  },
  415: {
    cause: 'Your handler does not support this content type (415).',
    fix: `Accept ${FORM_TYPE}, as real IPNs have it. For receivers that you cannot change: --ipn-format json.`,
  },
  429: {
    cause: 'Your shop is rate-limiting requests (429).',
    fix: 'Exempt the route of ipn_url from the rate limit.',
  },
  501: withoutPost(501),
  502: {
    cause: 'A proxy returned 502: the response from behind it was invalid, or there was none.',
    headline: 'A proxy got no valid response from your shop (502).',
    fix: 'Check that the app behind the proxy runs, and its log: it may have thrown an error.',
  },
  504: {
    cause: 'A proxy returned 504: your shop did not respond in time.',
    fix: 'Check that the app behind the proxy runs and is not blocked, and its log.',
  },
  419: wantsToken(419),
};

/** Why a response is a problem; undefined if it is not, or if the status alone explains it. */
export function answerProblem({ status, headers, body }: ReceiverAnswer): AnswerProblem | undefined {
  if (status === null) return undefined;
  if (status >= 300 && status < 400 && status !== 304) return redirectProblem(headers);
  // Node's answer to a client without HTTP/2.
  if (/Missing ALPN Protocol/i.test(body)) {
    return {
      cause: `Your shop accepts only HTTP/2 (${status}), and gateway-sim speaks HTTP/1.1. The real sender, curl, would get through.`,
      headline: 'Your shop accepts only HTTP/2.',
      fix: FIX_HTTP2,
    };
  }
  const fault = errorPage(body);
  if (status < 300) {
    if (fault === undefined) return loginPage(status, body) ?? phpWarning(status, body);
    return {
      cause: `Your handler returned ${status}, but its body contains an error: ${fault}`,
      headline: `Your handler returned ${status}, but with an error.`,
      fix: 'Fix the error, and return 500 when your handler fails.',
    };
  }
  // Express answers 404 to a method without a route.
  if (status === 404 && /Cannot POST \//.test(body)) return withoutPost(status);
  const said = ownWords(body);
  const thrown = fault ?? (status >= 500 && EXCEPTION.test(said ?? '') ? said : undefined);
  const words = status >= 500 && thrown !== undefined ? thrown : said;
  // Pages have such a token, too, and their tags are not read.
  if (status < 500 && /csrf|authenticity.?token/i.test(words ?? '')) return wantsToken(status);
  if (status === 401 && asksForLogin(headers, words))
    return withWords({ cause: 'The route requires a login (401).', fix: NO_LOGIN }, words);
  const known = BY_STATUS[status];
  // Frameworks also show an error page for some statuses below 500, without an error in the code.
  if (known && (status < 500 || thrown === undefined)) return withWords(known, words);
  const problem = status >= 500 ? words : thrown;
  if (problem === undefined) return undefined;
  return {
    cause: `Your handler failed (${status}): ${problem}`,
    headline: `Your handler failed (${status}).`,
    fix:
      fixForReason(problem) ??
      (thrown === undefined
        ? 'Find the error in the log of your shop, and fix it.'
        : 'Fix this error in the code of your shop.'),
  };
}

/** Whether a login is missing, and not the right signature. */
function asksForLogin(headers: ReceiverAnswer['headers'], words = ''): boolean {
  if (/\b(?:signature|hmac|hash)\b/i.test(words)) return false;
  return headerIn(headers, 'www-authenticate') !== undefined || fixForReason(words) === NO_LOGIN;
}

/** A problem that the status shows, with what the receiver says, unless it only repeats the status. */
function withWords(problem: AnswerProblem, words: string | undefined): AnswerProblem {
  const { cause, headline = cause } = problem;
  if (words === undefined || saysNothing(words)) return problem;
  return { ...problem, cause: `${cause} The response says: ${quoted(words)}`, headline };
}

function redirectProblem(headers: ReceiverAnswer['headers']): AnswerProblem {
  const location = headerIn(headers, 'location') ?? '';
  if (/log-?in|sign-?in|\bo?auth\b|\bsso\b|\bsessions?\/new\b/i.test(location)) {
    return { cause: `Your handler redirected to a login page (${location}).`, fix: NO_LOGIN };
  }
  return {
    cause: `Your handler redirected to ${location || 'an unknown address'}, and a gateway does not follow redirects.`,
    headline: 'Your handler redirected. A gateway does not follow redirects.',
    fix: 'Use the final address as ipn_url.',
  };
}

function loginPage(status: number, body: string): AnswerProblem | undefined {
  if (!/<input[^<>]{1,200}type=["']?password/i.test(body)) return undefined;
  return { cause: `Your handler returned ${status} with a login page.`, fix: NO_LOGIN };
}

/** As PHP prints it with display_errors on. */
const PHP_WARNING = /\b(?:Warning|Notice|Deprecated)(?:<\/b>)?: .{1,300}? on line (?:<b>)?\d+/;

function phpWarning(status: number, body: string): AnswerProblem | undefined {
  const found = PHP_WARNING.exec(body)?.[0];
  if (found === undefined) return undefined;
  return {
    tone: 'warning',
    cause: `Your handler returned ${status}, but PHP printed a warning: ${plainText(found)}.`,
    headline: `Your handler returned ${status}, but PHP printed a warning.`,
    fix: 'Fix the cause of the warning: the code may have read a missing value.',
  };
}

const REJECTION =
  /"(?:ok|success|valid|verified|accepted)"\s*:\s*(?:false|0)|"status"\s*:\s*"(?:error|fail)|\b(?:invalid|reject|refus|denied|mismatch|(?:bad|wrong) signature|not valid|forg)|(?:\bnot|n['’]t) match/i;

/** A body that is only a word of rejection, or begins with one. */
const REJECTED_WORD =
  /^\s*(?:(?:error|fail(?:ed|ure)?|fatal)\b|(?:forbidden|unauthori[sz]ed|nok|false|0)[.!]?\s*$)/i;

/** Whether the body says that the IPN was rejected. Some receivers always answer 200 (observed: receiver-always-200). */
export function saysRefused(body: string): boolean {
  // Ignores CSS such as :invalid, classes, and members such as "error": false.
  const text = body
    .replace(/<(?:style|script)\b[^<]*/gi, '')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/"(?!ok"|success"|valid"|verified"|accepted")\w+"\s*:\s*(?:false|null|0|""|\[\s*\])/gi, '');
  return REJECTED_WORD.test(body) || REJECTION.test(text);
}

/** Patterns in responses that reveal a language. */
const SIGNS = {
  PHP: /^x-powered-by: .*PHP|PHPSESSID|laravel_session|\.php\b/im,
  Node: /^x-powered-by: .*Express|\.[cm]?js:\d+:\d+/im,
  Python: /^server: .*(?:Python|Werkzeug|gunicorn|uvicorn|WSGIServer)|Traceback \(most recent call last\)/im,
} as const;

/** A language in which the code for a fix is written. */
export type Language = keyof typeof SIGNS;

/** Maximum characters read from each response. */
const READ = 4_096;

/** The language that a shop's responses reveal; undefined if there is none, or more than one. */
export function languageOf(
  answers: readonly Pick<ReceiverAnswer, 'headers' | 'body'>[],
): Language | undefined {
  const texts = answers.map(({ headers, body }) =>
    [...headers.map((pair) => pair.join(': ')), body.slice(0, READ)].join('\n'),
  );
  const [language, another] = namesOf(SIGNS).filter((name) => texts.some((text) => SIGNS[name].test(text)));
  return another === undefined ? language : undefined;
}
