import type { Command } from 'commander';
import { command, option } from '../../contract/hint.ts';
import { DELIVERY_ORDERS } from '../../contract/vocabulary.ts';
import type { Add } from '../program.ts';
import { examples } from './examples.ts';
import { duration, oneOf } from './values.ts';

/** The commands `pay` and `payments`. */
export function addPayments(add: Add, program: Command): void {
  const payments = async () => import('../actions/payments.ts');
  add(
    program,
    'pay [ref]',
    'settle a pending payment: the newest one, or by id or identifier',
    async () => (await payments()).pay,
  )
    .option('--approve', 'the customer pays')
    .option('--cancel', 'the customer cancels')
    .option('--fail', 'the payment fails')
    .option('--expire', 'the payment expires')
    .option('--all', 'every pending payment')
    .option('--wait <duration>', 'wait for the payment (and the server) to appear', duration)
    .addOption(oneOf('--delivery <order>', 'order of IPN and redirect', DELIVERY_ORDERS))
    .option('--require-delivery', 'exit 1 unless the first attempt was answered with 2xx')
    .addHelpText(
      ...examples(
        'gateway-sim pay --approve',
        'gateway-sim pay order-1 --cancel',
        'gateway-sim pay --approve --wait 30s --require-delivery',
      ),
    );
  const group = program
    .command('payments')
    .description('list, show and create payments')
    .addHelpText(
      ...examples(
        'gateway-sim payments',
        'gateway-sim payments show order-1',
        'gateway-sim payments create --amount 49.90',
      ),
    );
  add(group, 'list', 'payments, newest first', async () => (await payments()).list)
    .addOption(
      oneOf('--status <status>', 'only those of this status', [
        'pending',
        'succeeded',
        'canceled',
        'failed',
        'expired',
      ]),
    )
    .addOption(oneOf('--mode <mode>', 'only those of this mode', ['sandbox', 'live']))
    .option('--identifier <identifier>', 'only those of this identifier')
    .option('--limit <number>', 'at most so many (default: 50)')
    .option('--cursor <cursor>', 'go on where the last list ended')
    .addHelpText(...examples('gateway-sim payments list --status pending --limit 10'));
  add(group, 'show <ref>', 'one payment and its whole story', async () => (await payments()).show)
    .option('--curl', 'its IPNs as curl commands, ready to paste')
    .option('--har', 'its IPNs as a HAR 1.2 document')
    .addHelpText(
      ...examples('gateway-sim payments show order-1', 'gateway-sim payments show order-1 --curl'),
    );
  add(group, 'create', 'initiate a payment as a merchant would', async () => (await payments()).create)
    .option('--amount <amount>', 'amount as decimal text', '100.00')
    .option('--currency <code>', 'currency code', 'USD')
    .option('--identifier <text>', 'identifier of the merchant (default: made up)')
    .option('--details <text>', 'what it is for', 'Test payment')
    .option('--ipn-url <url>', 'receiver of the IPN', 'http://localhost:3000/ipn')
    .option(
      '--success-url <url>',
      'where the browser goes on success (default: a thank-you page of the emulator)',
    )
    .option('--cancel-url <url>', 'where the browser goes on cancellation (default: a page of the emulator)')
    .option('--site-logo <url>', 'logo of the merchant (default: one of the emulator)')
    .addOption(oneOf('--theme <theme>', 'theme of the checkout', ['light', 'dark']))
    .option('--customer-name <text>', 'name of the customer', 'Ada Example')
    .option('--customer-email <e-mail>', 'e-mail of the customer', 'wallet@example.com')
    .option('--live', 'in live mode (default: sandbox)')
    .option('--open', 'open the checkout in the browser')
    .addHelpText(
      ...examples(
        'gateway-sim payments create --amount 49.90 --currency EUR --ipn-url http://localhost:3000/ipn --open',
      ),
    );
}
