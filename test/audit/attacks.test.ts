import { expect, it } from 'vitest';
import { prepareAudit } from '../helpers/auditable.ts';

const REST_OF_AN_IPN =
  '&data[account_holder]=Ada&data[payment_type]=hosted&data[payment_timestamp]=TIME&data[charge]=1.00&data[currency][code]=USD&data[currency][symbol]=$';

/** Words for what differs in every run, in this order. */
const VARIABLE: readonly (readonly [RegExp, string])[] = [
  [/127\.0\.0\.1:\d+/g, 'HOST'],
  [/\d{4}-\d\d-\d\d[ +]\d\d(:|%3A)\d\d(:|%3A)\d\d/g, 'TIME'],
  [/pay_[a-z0-9]{24}/g, 'PAYMENT'],
  [/sim-[a-z0-9]+-[a-z0-9]+/g, 'ATTACKERS-ID'],
  [/((?:payment_)?trx(?:\]|%5D)?(?:=|":"))[A-Z0-9]{12}/g, '$1TRX'],
  [/[0-9A-F]{8}0{56}/g, 'BEGINNING-OF-SIGNATURE'],
  [/(?!F{64})[0-9A-F]{64}/g, 'SIGNATURE'],
  [/[0-9a-f]{64}/g, 'signature'],
  [/signature=[\w+/]{43}=/g, 'signature=BASE64'],
  [/token=[0-9a-f]{32}/g, 'token=TOKEN'],
  [/[0-9a-f]{20}\d\b/g, 'ID-AND-A-DIGIT'],
  [/[0-9a-f]{20}/g, 'ID'],
  [/(?<![0-9A-F])[0-9A-F]{20}(?![0-9A-F])/g, 'ID-IN-UPPER-CASE'],
  [/\b\d+ bytes/g, 'some bytes'],
  [/all \d+ requests/g, 'all requests'],
  [/\n/g, '\\n'],
  [/\p{Cc}/gu, '<control>'],
];

it('every case sends what it describes', async () => {
  const { audit } = await prepareAudit();
  const { cases } = await audit();
  const texts = cases.map(({ name, sent }) => {
    const text = VARIABLE.reduce(
      (before, [pattern, word]) => before.replace(pattern, word),
      sent ?? 'nothing',
    );
    return `${name}\n${text.replace(REST_OF_AN_IPN, '&…')}\n`;
  });
  await expect(texts.join('\n')).toMatchFileSnapshot('attacks.txt');
});
