import type { Command } from 'commander';
import type { Add } from '../program.ts';

/** The commands of `cards`. */
export function addCards(add: Add, program: Command): void {
  const cards = async () => import('../commands/cards.ts');
  const group = program.command('cards').description('virtual cards');
  add(group, 'list', 'cards, newest first', async () => (await cards()).list)
    .option('--status <status>', 'only active, inactive or canceled ones')
    .option('--merchant <name>', 'only those of this merchant')
    .option('--limit <number>', 'at most so many (default: 50)')
    .option('--cursor <cursor>', 'go on where the last list ended');
  add(group, 'show <id>', 'one card and its transactions', async () => (await cards()).show);
  add(group, 'create', 'create a card as a merchant would', async () => (await cards()).create)
    .option('--amount <amount>', 'card total amount as decimal text', '100.00')
    .option('--currency <code>', 'currency code', 'USD')
    .option('--title <text>', 'title of the card', 'Test card')
    .option('--name-on-card <text>', 'name printed on it', 'Ada Example')
    .option('--email <e-mail>', 'e-mail of the holder', 'ada@example.com')
    .option('--merchant <name>', 'of this merchant (default: the first one)');
  add(group, 'activate <id>', 'activate an inactive card', async () => (await cards()).activate);
  add(group, 'block <id>', 'block an active card', async () => (await cards()).block);
  add(group, 'cancel <id>', 'cancel a card: that is final', async () => (await cards()).cancel);
  for (const [name, summary] of [
    ['charge', 'pay something with a card'],
    ['fund', 'add money to a card'],
  ] as const) {
    add(group, `${name} <id>`, summary, async () => (await cards())[name])
      .requiredOption('--amount <amount>', 'amount as decimal text')
      .option('--details <text>', 'what it is for')
      .option('--currency <code>', "must be the card's own where it is given");
  }
  group.addHelpText(
    'after',
    '\nExamples:\n  gateway-sim cards create --amount 250 --title Travel\n  gateway-sim cards charge <id> --amount 12.50 --details "Coffee"',
  );
}
