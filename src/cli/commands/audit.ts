import { AUDIT_PRESETS } from '../../contract/audit.ts';
import { namesOf } from '../../contract/vocabulary.ts';
import {
  type ActionsOf,
  choice,
  type Declarations,
  duration,
  flag,
  group,
  list,
  named,
  text,
} from '../command.ts';

const ABOUT = `
The audit places orders in your shop, attacks its IPN handler and its return page the way real attackers and real
gateways do, and looks by your probe at what the shop did. It settles only payments that it made itself, and leaves its
orders in the shop's database. {identifier} stands for the identifier of an order; in a command that is
"$GATEWAY_SIM_IDENTIFIER", quotes included, and {trx}, {amount}, {ipn_url}, {success_url} and {order} are the like.
Commands also see GATEWAY_SIM_URL, GATEWAY_SIM_INITIATE_URL and the keys. Without a probe nothing can be proven. Exit
code 1 when a case fails, or when the audit could not be carried out.`;

const ALLOW_IPN_HOST = list('host', 'let requests out to this public host; repeatable');

const PROBE = {
  probeCmd: text('command', 'prints what the shop knows of the order {identifier}, without quotes around it'),
  probeUrl: text('url', 'the same from an address, such as http://localhost:3000/orders/{identifier}'),
  paidWhen: text('condition', 'it is paid when: .path=value on JSON, or /regular expression/'),
};

const COMMANDS = {
  audit: {
    args: ['[ipn-url]'],
    summary: "attack a shop's IPN handler, and look at what the shop did",
    options: {
      preset: choice(
        'shop',
        'fill in how orders are placed and looked at, and say so; other options beat it',
        namesOf(AUDIT_PRESETS),
      ),
      orderCmd: text('command', 'makes the shop place an order'),
      orderUrl: text('url', 'the same by a request to this address'),
      orderMethod: choice('method', 'the method of --order-url (default: POST)', ['GET', 'POST']),
      orderWait: flag('somebody places the orders by hand'),
      orders: text('number', 'maximum number of orders (default: 150; 3 with --order-wait)'),
      ...PROBE,
      probe: named(
        'command or url',
        "something that happens once per payment, as in stock='<command or url>'; repeatable",
      ),
      orderAmount: text('path', 'where the probe says what the order costs, such as .total'),
      only: list('names', 'only these cases, groups or classes; repeatable'),
      skip: list('names', 'not these; repeatable'),
      failOn: list('verdicts', 'exit 1 on these, too: exposed, unproven; repeatable'),
      own: flag('in an emulator of its own, in memory, on the port of the configuration'),
      timeout: duration('for an answer, an order and a look each, such as 5s (default: 10s and more)'),
      allowIpnHost: ALLOW_IPN_HOST,
      junit: text('file', 'write the report as JUnit XML, too'),
      html: text('file', 'write the report as one page, too'),
      list: flag('print every case with what it stands for, and run none'),
    },
    about: ABOUT,
    examples: [
      "audit http://localhost:3000/ipn --order-cmd 'npm run place-order' --probe-url 'http://localhost:3000/orders/{identifier}' --paid-when .status=paid",
      'audit --list',
    ],
  },
  reconcile: {
    summary: "compare the emulator's payments with what the shop knows of them",
    options: {
      ...PROBE,
      orderAmount: text('path', 'where the probe says what was paid, such as .total'),
      fulfilled: text('path', 'where the probe counts how often it was fulfilled, such as .shipments'),
      allowIpnHost: ALLOW_IPN_HOST,
    },
    examples: ["reconcile --probe-cmd './order-status {identifier}' --paid-when /paid/"],
  },
} as const satisfies Declarations;
export type Actions = ActionsOf<typeof COMMANDS>;

export const audit = group({ commands: COMMANDS, load: () => import('../actions/audit.ts') });
