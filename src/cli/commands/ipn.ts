import type { Command } from 'commander';
import { command, option } from '../../contract/hint.ts';
import { IPN_FORMATS, TAMPERINGS } from '../../contract/vocabulary.ts';
import type { Add } from '../program.ts';
import { examples } from './examples.ts';
import { fieldValue, oneOf } from './values.ts';

/** The commands of `ipn`. */
export function addIpn(add: Add, program: Command): void {
  const ipn = async () => import('../actions/ipn.ts');
  const group = program
    .command('ipn')
    .description('list, resend, make, verify and receive IPNs')
    .addHelpText(...examples('gateway-sim ipn', 'gateway-sim ipn fire --payment order-1'));
  add(group, 'list', 'deliveries with their attempts, newest first', async () => (await ipn()).list)
    .option('--payment <ref>', 'only those of this payment: id or identifier')
    .addOption(
      oneOf('--state <state>', 'only those of this state', ['pending', 'delivered', 'failed', 'refused']),
    )
    .option('--limit <number>', 'at most so many (default: 50)')
    .option('--cursor <cursor>', 'go on where the last list ended')
    .addHelpText(
      ...examples('gateway-sim ipn list --state failed', 'gateway-sim ipn list --payment order-1'),
    );
  add(
    group,
    'show <id>',
    'one delivery, both sides of every attempt',
    async () => (await ipn()).show,
  ).addHelpText(...examples('gateway-sim ipn show ipn_ndx7mhc09sz61bt8'));
  add(group, 'resend <id>', 'send a delivery once more', async () => (await ipn()).resend)
    .option('--to <url>', 'to another address, as a new delivery')
    .option('--require-delivery', 'exit 1 unless it was answered with 2xx')
    .addHelpText(
      ...examples(
        'gateway-sim ipn resend ipn_ndx7mhc09sz61bt8',
        'gateway-sim ipn resend ipn_ndx7mhc09sz61bt8 --to http://localhost:4000/ipn',
      ),
    );
  add(group, 'fire', 'send a signed IPN by hand, attempted once', async () => (await ipn()).fire)
    .option('--to <url>', 'address to send it to (default: the ipn_url of the payment)')
    .option('--payment <ref>', 'of this payment: id or identifier (default: one that never was)')
    .option('--identifier <text>', 'identifier of the merchant')
    .option('--amount <amount>', 'amount as decimal text')
    .option('--currency <code>', 'currency code (default: USD)')
    .option('--status <status>', 'status (default: success)')
    .option(
      '--set <field=value>',
      'any field, such as data.charge=1, set before signing; repeatable',
      fieldValue,
    )
    .addOption(oneOf('--tamper <what>', 'applyTampering this after signing: must be refused', TAMPERINGS))
    .addOption(oneOf('--format <format>', 'how it is written', IPN_FORMATS))
    .option('--times <number>', 'so many deliveries of the same bytes')
    .option('--delay <duration>', 'wait before each of them')
    .option('--secret <key>', 'sign with this key and send from here: no server is needed')
    .option('--require-delivery', 'exit 1 unless each was answered with 2xx')
    .addHelpText(
      ...examples(
        'gateway-sim ipn fire --payment order-1',
        'gateway-sim ipn fire --to http://localhost:3000/ipn --amount 49.90 --tamper amount',
        'gateway-sim ipn fire --to http://localhost:3000/ipn --secret sec_sim_1 --set data.charge=1',
      ),
    );
  const secret = [
    '--secret <key>',
    'secret key to check with (default: that of the running emulator)',
  ] as const;
  const merchant = ['--merchant <name>', 'with the key of this merchant (default: the first one)'] as const;
  add(group, 'verify [body]', 'whether an IPN is valid, or why not', async () => (await ipn()).verify)
    .option('--body <body>', 'the body: its text, @file, or - for stdin (default: stdin)')
    .option(...secret)
    .option(...merchant)
    .option('--public-key <key>', 'to tell when this was mistaken for the secret key')
    .addHelpText(
      ...examples(
        'gateway-sim ipn verify @body.txt',
        'gateway-sim ipn verify --secret sec_sim_1 --body @body.txt',
      ),
    );
  add(
    group,
    'listen',
    'receive, verify and print IPNs',
    async () => (await import('../actions/listen.ts')).listen,
  )
    .option('--port <number>', 'port to listen on; 0 takes a free one (default: 3000)')
    .option('--forward-to <url>', 'pass everything on unchanged, and answer what is answered there')
    .option(...secret)
    .option(...merchant)
    .addHelpText(
      ...examples(
        'gateway-sim ipn listen',
        'gateway-sim ipn listen --port 4000 --forward-to http://localhost:3000/ipn',
      ),
    );
}
