import { startReceiver } from '../../helpers/receiver.ts';
import { ORDER } from '../../helpers/sim.ts';
import { type Emulator, startEmulator } from '../emulator.ts';
import { pick } from '../hostile-values.ts';
import { type Budget, trial } from '../trial.ts';

// `+` differs in a form, and may be part of a header's name.
const SECRET = 'sec_sim_Zq7Trial+Of+Secrets0123456789abcdef';
const TOKEN = 'token_Xw9Trial+Of+Tokens0123456789';
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

/** @param secret as it is, and percent-encoded */
type Place = (
  sim: Emulator,
  secret: Record<'plain' | 'percent', string>,
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
  'a JSON field': (sim, { plain }, { public_key }) =>
    posted(
      `${sim.url}/payment/initiate`,
      'application/json',
      `{"public_key":"${public_key}","${plain}":"${plain}"}`,
    ),
  'broken JSON': (sim, { plain }) =>
    posted(`${sim.url}/payment/initiate`, 'application/json', `{"a":"${plain}`),
  'a multipart field': (sim, { plain }) =>
    posted(
      `${sim.url}/payment/initiate`,
      'multipart/form-data; boundary=x',
      `--x\r\nContent-Disposition: form-data; name="${plain}"; filename="${plain}"\r\n\r\n${plain}\r\n--x--\r\n`,
    ),
  'a body of an unknown type': (sim, { plain }) =>
    posted(`${sim.url}/payment/initiate`, `text/${plain}`, plain),
  'the title of a card': (sim, { plain }) =>
    posted(
      `${sim.url}/api/cards/save`,
      'application/json',
      `{"currency_code":"USD","title":"${plain}","name_on_card":"${plain}","email":"a@b.cc","amount":"10"}`,
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

function judge(budget: Budget, where: string, text: string, places: readonly string[]): void {
  for (const secret of [SECRET, TOKEN]) {
    const found = text.replaceAll('%2B', '+');
    const at = found.indexOf(secret);
    if (at < 0) continue;
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
      const plain = pick([SECRET, SECRET, TOKEN], budget.below);
      const secret = { plain, percent: encodeURIComponent(plain) };
      said = plain;
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
