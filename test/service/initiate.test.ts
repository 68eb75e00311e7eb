import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError, renderHint } from '../../src/contract/error.ts';
import { PROFILES } from '../../src/contract/profiles.ts';
import { parseCurrency } from '../../src/domain/money.ts';
import { initiate } from '../../src/domain/payment.ts';
import type { State } from '../../src/domain/state.ts';
import { fieldReader, type PostedFields } from '../../src/service/body.ts';
import { readInitiate } from '../../src/service/initiate.ts';
import { initiatePosted, withInitiateHint } from '../../src/usecases/initiate.ts';
import { character } from '../helpers/characters.ts';
import {
  applied,
  context,
  fields,
  input,
  LOOSELY,
  posted,
  SECRET_KEY,
  type SettingsChanges,
  settings,
  state,
} from '../helpers/records.ts';

it('reports the amount in its place in the order if a number cannot be read exactly', () => {
  const posted = { fields: fields({ currency: '', amount: 1e-9, details: '' }), text: '' };
  const read = () => readInitiate(posted, PROFILES.document.choices);
  expect(read).toThrow(GatewayError);
  expect(read).toThrowError(
    expect.objectContaining({
      problems: [
        'currency is required',
        'amount cannot be read exactly from this JSON number: send a string, such as "49.90"',
        'details is required',
      ],
    }),
  );
});

/** Reads the posted fields and applies the rule, as the service does. */
function initiated(to: State, given: PostedFields, changes: SettingsChanges = {}) {
  const using = context(changes);
  return initiatePosted(to, given, 'sandbox', using);
}

/** The error for these fields. Fails if they are accepted. */
function refusal(given: PostedFields, changes: SettingsChanges = {}): GatewayError {
  try {
    initiated(state(), given, changes);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

/** The hint in the log, as text. */
function fixFor(given: PostedFields, changes: SettingsChanges = {}): string | undefined {
  const failed = refusal(given, changes);
  const { hint } = withInitiateHint(failed, given, {
    state: state(),
    settings: settings(changes),
  });
  return hint && renderHint(hint);
}

function accepted(changes: Record<string, unknown> = {}, settings: SettingsChanges = {}) {
  return initiated(state(), posted(changes), settings).result;
}

describe('the check of the initiate fields', () => {
  // fixtures/fidelity/manifest.jsonl has the limits of each field.
  it.each([
    [{ identifier: null }, 'identifier is required'],
    [
      { amount: ['1'] },
      'amount must be a plain decimal greater than 0 with at most 20 digits and 8 decimals, such as 100 or 49.90 (got a list)',
    ],
    // Every unknown currency is rejected: only the message distinguishes it from a limit.
    [{ currency: 'EUROS' }, 'currency must have at most 4 characters (got 5)'],
    [{ customer_email: 'nobody' }, 'customer_email must be a valid e-mail address (got "nobody")'],
  ])('rejects an invalid field with: $1', (changes, problem) => {
    const { code, message, problems } = refusal(posted(changes));
    expect([code, message, problems]).toEqual(['invalid_fields', problem, [problem]]);
  });

  it.each([
    [{ customer_name: ' ' }, 'customer_name is required'],
    [{ details: 'a\0b' }, 'details has a NUL byte (%00) at position 2, which is not text'],
    [{ amount: true }, /^amount must be a plain decimal/],
    [{ customer_email: 'ada.@example.com' }, /^customer_email must be a valid e-mail address/],
  ])('rejects what Laravel or its database rejects: %j', (changes, problem) => {
    expect(refusal(posted(changes)).message).toMatch(problem);
  });

  it('names the byte order mark that hides the first field of a form', () => {
    const form = new URLSearchParams(posted({}).fields as Record<string, string>).toString();
    const type = 'application/x-www-form-urlencoded';
    const { problems } = refusal(fieldReader(type)(Buffer.from(`\uFEFF${form}`), type));
    expect(problems).toEqual([
      'the body begins with a byte order mark, which is a part of the name public_key: send UTF-8 without it',
      expect.stringMatching(/^public_key /),
    ]);
  });

  it('names the separator of PHP that hides the fields', () => {
    const form = new URLSearchParams(posted({}).fields as Record<string, string>).toString();
    const type = 'application/x-www-form-urlencoded';
    const { problems } = refusal(fieldReader(type)(Buffer.from(form.replaceAll('&', '&amp;')), type));
    expect(problems[0]).toMatch(
      /^the fields are separated by "&amp;".* received: "amp;identifier", "amp;currency",.*http_build_query/,
    );
  });

  it('accepts a JSON number as its shortest text, with a warning', () => {
    const outcome = initiated(state(), { fields: fields({ amount: 49.9 }), text: '{"amount": 49.90}' });
    expect(outcome.result.amount).toBe('49.9');
    expect(outcome.result.warnings).toEqual([
      'amount is a JSON number: send a string, so that no digits are lost',
    ]);
  });

  it('shortens a long quoted value', () => {
    expect(refusal(posted({ ipn_url: 'x'.repeat(2_000) })).message.length).toBeLessThan(200);
    expect(refusal(posted({ amount: '9'.repeat(100_000) })).message.length).toBeLessThan(250);
  });
});

describe('the currency', () => {
  it('is rejected if unknown, and the error lists the known ones', () => {
    const error = refusal(posted({ currency: 'NPR' }));
    expect(error.message).toBe('currency "NPR" is not supported: this gateway has USD, GNF, CFA, EUR');
  });

  it('is rejected in lower case, with the correct spelling', () => {
    const error = refusal(posted({ currency: 'usd' }));
    expect(error).toMatchObject({
      code: 'unsupported_currency',
      message: 'currency must be in upper case: USD (got "usd")',
    });
  });

  const LONG = {
    identifier: 'x'.repeat(200),
    details: 'x'.repeat(5_000),
    customer_name: 'x'.repeat(300),
    customer_email: `${'x'.repeat(200)}@example.com`,
  };

  const CURRENCY = 'If your gateway has this currency,';
  const CLIENT = 'For clients that you cannot change,';
  const KEY = 'public_key is also wrong. Show the public key of this emulator with: gateway-sim keys show.';

  it.each([
    [{ currency: 'NPR' }, {}, `${CURRENCY} start with --currency NPR to accept this request`],
    [{ currency: 'usd' }, {}, `${CLIENT} start with --loose to accept this request`],
    [{ currency: 'npr' }, {}, `${CLIENT} start with --loose and --currency NPR to accept this request`],
    [{ currency: 'npr' }, LOOSELY, `${CURRENCY} start with --currency NPR to accept this request`],
    [{ currency: '$' }, {}, undefined],
    [{ currency: '$', site_logo: '' }, {}, undefined],
    [
      { currency: '$', public_key: 'pub_sim_nobody' },
      {},
      'public_key is also wrong. Show the public key of this emulator with: gateway-sim keys show',
    ],
    [
      { currency: 'PKR', site_logo: '' },
      {},
      `${CLIENT} start with --loose and --currency PKR to accept this request`,
    ],
    [
      { site_logo: '', public_key: 'pub_sim_nobody' },
      {},
      `${KEY} ${CLIENT} start with --loose to accept the other fields`,
    ],
    [
      { currency: 'NPR', public_key: 'pub_sim_nobody' },
      {},
      `${KEY} ${CURRENCY} start with --currency NPR to accept the other fields`,
    ],
    [{ currency: 'NPR', amount: 'ten' }, {}, undefined],
    [LONG, {}, `${CLIENT} start with --loose to accept this request`],
    [{ ...LONG, amount: 'ten' }, {}, undefined],
    [{ customer_name: '' }, LOOSELY, undefined],
  ])(
    'is rejected with a hint that names all options that help, after the fix: $2',
    (fields, changes, expected) => {
      expect(fixFor(posted(fields), changes)).toBe(expected);
    },
  );

  it('is accepted with the options that the hint names', () => {
    const options = { ...LOOSELY, currencies: new Map([['NPR', parseCurrency('NPR')]]) };
    expect(accepted({ currency: 'npr', site_logo: '' }, options).currency).toBe('NPR');
  });
});

it('rejects the secret key as public_key, and the hint says so without repeating it', () => {
  const error = refusal(posted({ public_key: SECRET_KEY }));
  expect(error).toMatchObject({ code: 'invalid_api_key', message: 'Invalid api key' });
  const hint = fixFor(posted({ public_key: SECRET_KEY }));
  expect(hint).toMatch(/secret key was sent as public_key/);
  expect(JSON.stringify([error.message, error.problems, hint])).not.toContain(SECRET_KEY);
});

describe('warnings', () => {
  it('report a reused identifier, although the payment is a new one', () => {
    const held = state();
    const first = applied(held, initiated(held, posted()));
    const second = applied(held, initiated(held, posted()));
    expect(first.warnings).toEqual([]);
    expect(second.warnings).toEqual([
      'identifier "order-1" was used before: this is a new payment with the same identifier',
    ]);
    expect(held.payments.size).toBe(2);
  });

  it('say nothing about three decimals in a currency that has three', () => {
    const held = state();
    const dinars = new Map([['KWD', { code: 'KWD', name: 'Kuwaiti Dinar', symbol: 'KD', decimals: 3 }]]);
    const { warnings } = applied(
      held,
      initiated(held, posted({ currency: 'KWD', amount: '12.345' }), { currencies: dinars }),
    );
    expect(warnings).toEqual([]);
  });

  it.each([
    [{ cancel_url: 'http://127.0.0.1:3001/cart' }, 'success_url and cancel_url are on different hosts'],
    [
      { amount: '0.30000000' },
      'amount "0.30000000" has more than 2 decimals, like the result of a floating-point calculation',
    ],
    [
      { custmer_name: 'x' },
      'field "custmer_name" is not part of the interface and was ignored (did you mean customer_name?)',
    ],
    [
      { ipn_url: 'http://127.0.0.1:4/thanks?order=1' },
      'ipn_url and success_url are the same address: a browser visit does not prove a payment',
    ],
    [
      { ipn_url: 'http://127.0.0.1:4/logo.png' },
      'ipn_url and site_logo are the same address: the checkout loads it as an image',
    ],
    [
      { ipn_url: 'http://127.0.0.1:4/ipn?order={1}' },
      'a stricter deployment rejects this: ipn_url contains {, which must be percent-encoded',
    ],
    [
      { success_url: 'http://127.0.0.1:4/thanks?off=5%' },
      'a stricter deployment rejects this: success_url contains %, which must be percent-encoded',
    ],
    // A field of published clients.
    [{ payment_type: 'x' }, 'field "payment_type" is not part of the interface and was ignored'],
    [{ details: SECRET_KEY }, 'the secret key was sent in details'],
  ])('for %j: %s', (changes, warning) => {
    expect(accepted(changes).warnings).toEqual([warning]);
  });

  it.each(['http://127.0.0.1:4', "http://127.0.0.1:4/a-b_c/é~.!$&'()*+,;=:@?x[0]=1/?#top%20"])(
    'do not mention the characters of %s',
    (success_url) => {
      expect(accepted({ success_url }).warnings).toEqual([]);
    },
  );

  it('name every unknown field that contains the secret key', () => {
    expect(accepted({ secret_key: SECRET_KEY, note: `a ${SECRET_KEY}` }).warnings).toEqual([
      expect.stringContaining('field "secret_key" is not part of the interface'),
      'the secret key was sent in secret_key',
      expect.stringContaining('field "note" is not part of the interface'),
      'the secret key was sent in note',
    ]);
  });

  it('say why the egress guard will block the IPN', () => {
    const warnings = accepted({}, { unreachable: (url) => `no way to ${url}` }).warnings;
    expect(warnings).toEqual(['ipn_url may not receive IPNs: no way to http://127.0.0.1:4/ipn?order=1']);
  });

  it('say how a stricter deployment rejects values that only --loose accepts', () => {
    const given = { site_logo: '', currency: 'usd', customer_name: 'x'.repeat(31) };
    expect(accepted(given, LOOSELY).warnings).toEqual([
      'a stricter deployment rejects this: currency must be in upper case: USD (got "usd")',
      'a stricter deployment rejects this: site_logo is required',
      'a stricter deployment rejects this: customer_name must have at most 30 characters (got 31)',
    ]);
    expect(accepted({}, LOOSELY).warnings).toEqual([]);
  });

  it('say that the browser leaves a local shop', () => {
    const looksLocal = (url: string) => url.includes('127.0.0.1') || url.includes('forward');
    const away = { success_url: 'https://shop.example/paid', cancel_url: 'https://shop.example/cart' };
    const leaves = expect.stringContaining(
      'the browser leaves the local shop (forward its host with --forward-ipn to keep it there)',
    );
    expect(accepted(away, { looksLocal }).warnings).toEqual([leaves]);
    const everywhere = { ...away, ipn_url: 'https://shop.example/ipn' };
    expect(accepted(everywhere, { looksLocal }).warnings).toEqual([]);
    const ipn = { forwardTo: 'http://forward/' };
    expect(accepted(everywhere, { looksLocal, ipn }).warnings).toEqual([leaves]);
    expect(accepted({}, { looksLocal }).warnings).toEqual([]);
  });

  it('ignore the case of hosts', () => {
    expect(
      accepted({ success_url: 'https://SHOP.test/a', cancel_url: 'HTTPS://shop.TEST/b' }).warnings,
    ).toEqual([]);
  });

  it('are few and short for any number of unknown fields', () => {
    const unknown = Object.fromEntries(
      Array.from({ length: 1_500 }, (_, index) => [`${'x'.repeat(80)}${index}`, '']),
    );
    const { warnings } = accepted(unknown);
    expect(warnings).toHaveLength(11);
    expect(JSON.stringify(warnings).length).toBeLessThan(10_000);
    expect(warnings.at(-1)).toMatch(/and 1490 more/);
  });

  it('treat fields with built-in JavaScript names like other unknown fields', () => {
    const odd = JSON.parse('{"__proto__":"x","constructor":"x","toString":"x"}') as Record<string, unknown>;
    const given = Object.assign(Object.create(null), fields(), odd) as Record<string, unknown>;
    expect(initiated(state(), { fields: given, text: '' }).result.identifier).toBe('order-1');
  });
});

it('accepts any input, or rejects it with an error that names the problems', () => {
  const anyField = fc.oneof(
    fc.string({ unit: character }),
    fc.double(),
    fc.constant(null),
    fc.array(fc.string()),
    fc.dictionary(fc.string(), fc.string()),
  );
  const names = Object.keys(fields());
  fc.assert(
    fc.property(
      fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), anyField),
      fc.boolean(),
      (changes, loose) => {
        try {
          const payment = initiate(state(), input(changes), 'live', context(loose ? LOOSELY : {})).result;
          expect(payment.status).toBe('pending');
        } catch (error) {
          expect(error).toBeInstanceOf(GatewayError);
          expect((error as GatewayError).problems.length).toBeGreaterThan(0);
        }
      },
    ),
  );
});
