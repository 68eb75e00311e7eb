import { expect, it } from 'vitest';
import { namesOf } from '../../../../src/contract/vocabulary.ts';
import { pageOf } from '../../../helpers/forms.ts';
import { type Sim, startSim } from '../../../helpers/sim.ts';
import { STATES } from '../../../helpers/states.ts';

const SHOP = /^Your shop, http/;
const HANDLER = /^Your handler, http/;
const RULE = /^Your fault rule, not your handler$/;

/** What each state says in its heading, and where the fault is, if there is one. */
const SAYS: Readonly<Record<keyof typeof STATES, readonly [headline: RegExp, where?: RegExp]>> = {
  delivered: [/^Delivered: your handler returned 200/],
  'wrong signature': [/^You signed 49\.9\. Sign the amount exactly as it arrived: 49\.90\.$/, HANDLER],
  '400': [/^Your handler rejected a genuine IPN \(400\)\.$/, HANDLER],
  '500': [/^Your handler failed \(500\)\.$/, HANDLER],
  hang: [/^Your handler timed out after 1 s\.$/, HANDLER],
  unreachable: [/^Your shop is not running at this address\.$/, SHOP],
  redirect: [/^Your handler redirected to a login page/, HANDLER],
  'accepted forgery': [/^Forged IPN accepted\.$/, HANDLER],
  'corrupted signature accepted': [/^Forged IPN accepted\.$/, HANDLER],
  'corrupted body rejected': [/^Your fault rule changed the IPN, and your handler rejected it\.$/, RULE],
  delayed: [/^Delayed 1 h by your fault rule\.$/, RULE],
  failed: [/^Payment failed\. No IPN was sent\.$/],
  canceled: [/^Payment canceled\./],
  expired: [/^Payment expired\./],
  'mixed attempts': [/^Delivered \(attempt 4\): your handler returned 200/],
  'copies rejected': [/^Your handler accepted the IPN, but not its copy \(400\)\.$/, HANDLER],
  pending: [/^The customer has not paid yet\.$/],
};

/** The heading of the verdict on order-1, and its facts by name, as texts. */
async function cardOf(sim: Sim): Promise<Record<string, string | undefined>> {
  const { id } = sim.server.parts.payments.require('order-1');
  const html = await pageOf(sim, `/_sim/ui/payments/${id}`);
  const [, card = ''] = /<section [^>]*id="verdict"[^>]*>(.*?)<\/section>/s.exec(html) ?? [];
  const facts = [...card.matchAll(/<dt>(.*?)<\/dt><dd[^>]*>(.*?)<\/dd>/gs)];
  return {
    headline: /<h2>(.*?)<\/h2>/.exec(card)?.[1],
    ...Object.fromEntries(facts.map(([, name, value = '']) => [name, value.replace(/<[^>]+>/g, '')])),
  };
}

it.each(namesOf(STATES))('%s: says what is wrong, where, and the fix', async (state) => {
  const sim = await startSim({ ipnTimeout: '1s' });
  await STATES[state](sim);
  const { headline, Where, Tip, Fix = Tip, Attempts } = await cardOf(sim);
  const [expected, where] = SAYS[state];
  expect(headline).toMatch(expected);
  if (where) expect([Where, Fix]).toEqual([expect.stringMatching(where), expect.stringMatching(/\.$/)]);
  else expect(Where).toBeUndefined();
  if (state === 'mixed attempts')
    expect(Attempts).toBe('The first got 302. You resent it: no response, 500, 200.');
});
