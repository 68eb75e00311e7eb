import type { Command } from 'commander';
import { command, option } from '../../contract/hint.ts';
import type { Add } from '../program.ts';
import { examples } from './examples.ts';
import { oneOf } from './values.ts';

/** The commands of `cards`. */
export function addCards(add: Add, program: Command): void {
  const cards = async () => import('../actions/cards.ts');
  const group = program.command('cards').description('virtual cards');
  add(group, 'list', 'cards, newest first', async () => (await cards()).list)
    .addOption(oneOf('--status <status>', 'only those of this status', ['active', 'inactive', 'canceled']))
    .option('--merchant <name>', 'only those of this merchant')
    .option('--limit <number>', 'at most so many (default: 50)')
    .option('--cursor <cursor>', 'go on where the last list ended')
    .addHelpText(...examples('gateway-sim cards list --status active'));
  add(group, 'show <id>', 'one card and its transactions', async () => (await cards()).show).addHelpText(
    ...examples('gateway-sim cards show card_1'),
  );
  add(group, 'create', 'create a card as a merchant would', async () => (await cards()).create)
    .option('--amount <amount>', 'card total amount as decimal text', '100.00')
    .option('--currency <code>', 'currency code', 'USD')
    .option('--title <text>', 'title of the card', 'Test card')
    .option('--name-on-card <text>', 'name printed on it', 'Ada Example')
    .option('--email <e-mail>', 'e-mail of the holder', 'ada@example.com')
    .option('--merchant <name>', 'of this merchant (default: the first one)')
    .addHelpText(...examples('gateway-sim cards create --amount 250 --title Travel'));
  for (const [name, summary] of [
    ['activate', 'activate an inactive card'],
    ['block', 'block an active card'],
    ['cancel', 'cancel a card: that is final'],
  ] as const) {
    add(group, `${name} <id>`, summary, async () => (await cards())[name]).addHelpText(
      ...examples(`gateway-sim cards ${name} card_1`),
    );
  }
  for (const [name, summary] of [
    ['charge', 'pay something with a card'],
    ['fund', 'add money to a card'],
  ] as const) {
    add(group, `${name} <id>`, summary, async () => (await cards())[name])
      .requiredOption('--amount <amount>', 'amount as decimal text')
      .option('--details <text>', 'what it is for')
      .option('--currency <code>', "must be the card's own where it is given")
      .addHelpText(...examples(`gateway-sim cards ${name} card_1 --amount 12.50 --details Coffee`));
  }
  group.addHelpText(
    ...examples(
      'gateway-sim cards create --amount 250 --title Travel',
      'gateway-sim cards charge card_1 --amount 12.50 --details Coffee',
    ),
  );
}
