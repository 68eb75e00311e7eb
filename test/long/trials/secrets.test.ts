import { startReceiver } from '../../helpers/receiver.ts';
import { ORDER } from '../../helpers/sim.ts';
import { type Emulator, startEmulator } from '../emulator.ts';
import { type Below, pick } from '../hostile-values.ts';
import { type Budget, trial } from '../trial.ts';

const SECRET = 'sec_sim_Zq7TrialOfSecrets0123456789abcdef';
const TOKEN = 'token_Xw9TrialOfTokens0123456789';
/**
 * Responses that must not contain a secret. The pages of keys and cards are missing: they show keys on purpose, to be
 * copied.
 */
const MASKED = [
  ...[
    '/requests?limit=1000',
    '/events?since=0&follow=false',
    '/payments?limit=1000',
    '/ipns?limit=1000',
    '/inbox',
  ],
  ...['/status', '/cards', '', '/ui/payments', '/ui/ipns', '/ui/requests'],
];
const PER_ROUND = 25;

const escaped = (text: string, write: (code: string) => string, below: Below) =>
  [...text].map((one) => (below(3) ? one : write(one.charCodeAt(0).toString(16).padStart(2, '0')))).join('');

/** Writes a secret, or its beginning, in several encodings. */
function written(secret: string, below: Below): Record<'plain' | 'percent' | 'json', string> {
  const cut = below(4) ? secret : secret.slice(0, 20 + below(secret.length - 20));
  return {
    plain: cut,
    percent: escaped(cut, (code) => `%${pick([code, code.toUpperCase()], below)}`, below),
    json: escaped(cut, (code) => `\\u00${code}`, below),
  };
}

type Place = (
  sim: Emulator,
  secret: ReturnType<typeof written>,
  order: Record<string, string>,
) => Promise<unknown>;

const posted = (url: string, type: string, body: string, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', redirect: 'manual', headers: { 'Content-Type': type, ...headers }, body });

const FORM = 'application/x-www-form-urlencoded';

async function settled(sim: Emulator, order: Record<string, string>): Promise<void> {
  const answer = await posted(
    `${sim.url}/sandbox/payment/initiate`,
    FORM,
    new URLSearchParams(order).toString(),
  );
  const { url } = (await answer.json()) as { url?: string };
  const id = url && new URL(url).searchParams.get('payment_id');
  if (id) await sim.control(`/payments/${id}/settle`, { outcome: 'approve' });
}

const inOrder =
  (name: string): Place =>
  (sim, { plain }, order) =>
    settled(sim, {
      ...order,
      [name]: name.endsWith('_url') || name === 'site_logo' ? `${order['ipn_url']}?k=${plain}` : plain,
    });

/** Functions that put a secret into one part of a request. The response to the IPN also contains it. */
const PLACES: Readonly<Record<string, Place>> = {
  'a path': (sim, { percent }) => fetch(`${sim.url}/nowhere/${percent}`),
  'a query': (sim, { percent }) => fetch(`${sim.url}/api/cards?key=${percent}&${percent}=1`),
  'the query of the checkout': (sim, { percent }) =>
    fetch(`${sim.url}/initiate/payment/checkout?payment_id=${percent}`),
  'another header': (sim, { plain }) =>
    fetch(`${sim.url}/api/cards`, { headers: { 'X-Key': plain, 'User-Agent': `a ${plain}` } }),
  'the name of a header': (sim, { plain }) => fetch(`${sim.url}/api/cards`, { headers: { [plain]: 'x' } }),
  'basic credentials': (sim, { plain }) =>
    fetch(`${sim.url}/api/cards`, {
      headers: { Authorization: `Basic ${plain}`, Cookie: `a=${plain}`, Referer: `http://a/${plain}` },
    }),
  'the bearer': (sim, { plain }) =>
    fetch(`${sim.url}/api/cards`, { headers: { Authorization: `Bearer ${plain}` } }),
  'the name of a field': (sim, { plain }) =>
    posted(`${sim.url}/payment/initiate`, FORM, new URLSearchParams({ [plain]: 'x' }).toString()),
  'an encoded field': (sim, { percent }, order) =>
    posted(`${sim.url}/payment/initiate`, FORM, `${new URLSearchParams(order)}&more=${percent}`),
  'a JSON field': (sim, { json }, { public_key }) =>
    posted(
      `${sim.url}/payment/initiate`,
      'application/json',
      `{"public_key":"${public_key}","${json}":"${json}"}`,
    ),
  'broken JSON': (sim, { json }) =>
    posted(`${sim.url}/payment/initiate`, 'application/json', `{"a":"${json}`),
  'a multipart field': (sim, { plain }) =>
    posted(
      `${sim.url}/payment/initiate`,
      'multipart/form-data; boundary=x',
      `--x\r\nContent-Disposition: form-data; name="${plain}"; filename="${plain}"\r\n\r\n${plain}\r\n--x--\r\n`,
    ),
  'a body of an unknown type': (sim, { plain }) =>
    posted(`${sim.url}/payment/initiate`, `text/${plain}`, plain),
  'the title of a card': (sim, { json }) =>
    posted(
      `${sim.url}/api/cards/save`,
      'application/json',
      `{"currency_code":"USD","title":"${json}","name_on_card":"${json}","email":"a@b.cc","amount":"10"}`,
      { Authorization: `Bearer ${SECRET}` },
    ),
  'a manual IPN': (sim, { plain }, order) =>
    sim.control('/ipns', { to: order['ipn_url'], amount: plain, identifier: plain, set: { [plain]: plain } }),
  'a fault rule': (sim, { plain }) => sim.control('/faults', { route: `/never/${plain}`, drop: true }),
  ...Object.fromEntries(
    [
      'identifier',
      'details',
      'ipn_url',
      'success_url',
      'cancel_url',
      'site_logo',
      'customer_name',
      'currency',
      'amount',
      'public_key',
      'more',
    ].map((name) => [`the field ${name}`, inOrder(name)]),
  ),
};

/** The text as it is, and with its escapes decoded. */
function readings(text: string): string[] {
  const percent = text.replace(/%([0-9a-f]{2})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  const unicode = text.replace(/\\+u00([0-9a-f]{2})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return [text, percent, unicode];
}

function judge(budget: Budget, where: string, text: string, places: readonly string[]): void {
  for (const secret of [SECRET, TOKEN]) {
    const telling = secret.slice(0, 20);
    const found = readings(text).find((one) => one.includes(telling));
    if (!found) continue;
    const at = found.indexOf(telling);
    budget.fail(
      'outside',
      `in ${where}, after ${places.join(', ')}: ${found.slice(Math.max(at - 80, 0), at + 60)}`,
    );
  }
}

trial('secrets in every part of a request', { short: 25, least: 500, share: 1 }, async (budget) => {
  const sim = await startEmulator([
    '--secret-key',
    SECRET,
    '--public-key',
    'pub_sim_trial_of_secrets',
    '--control-token',
    TOKEN,
    '--ipn-retries',
    '0',
  ]);
  let said: string = SECRET;
  const receiver = await startReceiver(() => ({
    status: 400,
    headers: { 'x-said': said, 'set-cookie': said },
    body: `{"key":"${said}"}`,
  }));
  const [readyLine = ''] = sim.running.stdout().split('\n', 1);
  const headers = { Authorization: `Bearer ${TOKEN}` };
  while (budget.more()) {
    const tried: string[] = [];
    for (let count = 0; count < PER_ROUND; count++) {
      const [what, place] = pick(Object.entries(PLACES), budget.below);
      const secret = written(pick([SECRET, SECRET, TOKEN], budget.below), budget.below);
      said = secret.plain;
      await place(sim, secret, { ...ORDER, public_key: sim.publicKey, ipn_url: `${receiver.url}/ipn` });
      tried.push(what);
    }
    budget.cases(PER_ROUND);
    budget.requests(PER_ROUND);
    for (const path of MASKED) {
      const response = await fetch(`${sim.url}/_sim${path}`, { headers });
      if (response.status >= 500) budget.fail('5xx', `${response.status} from ${path}`);
      judge(budget, `/_sim${path}`, await response.text(), tried);
    }
    const { stdout, stderr } = sim.running;
    judge(budget, 'the output', stdout().slice(readyLine.length) + stderr(), tried);
    // Otherwise, the logs would grow with every round.
    await sim.control('/reset', {});
    await sim.check(budget, 'secrets');
  }
});
