import { CARD_DEFAULTS } from '../../contract/defaults.ts';
import { CARD_STATUSES } from '../../contract/vocabulary.ts';
import {
  type ActionsOf,
  choice,
  type Declarations,
  group,
  pagedBy,
  requiredText,
  text,
  textOr,
} from '../command.ts';

const movement = (name: string, summary: string) =>
  ({
    args: ['<id>'],
    summary,
    fields: {
      amount: requiredText('amount', 'amount as decimal text'),
      details: text('text', 'what it is for'),
      currency: text('code', "must be the card's own where it is given"),
    },
    examples: [`cards ${name} card_1 --amount 12.50 --details Coffee`],
  }) as const;
const change = (name: string, summary: string) =>
  ({ args: ['<id>'], summary, examples: [`cards ${name} card_1`] }) as const;

const COMMANDS = {
  list: {
    summary: 'cards, newest first',
    fields: pagedBy({
      status: choice('status', 'only those of this status', CARD_STATUSES),
      merchant: text('name', 'only those of this merchant'),
    }),
    examples: ['cards list --status active'],
  },
  show: {
    args: ['<id>'],
    summary: 'one card and its transactions',
    examples: ['cards show card_1'],
  },
  create: {
    summary: 'create a card as a merchant would',
    options: {
      amount: textOr(CARD_DEFAULTS.amount, 'amount', 'card total amount as decimal text'),
      currency: textOr(CARD_DEFAULTS.currency, 'code', 'currency code'),
      title: textOr(CARD_DEFAULTS.title, 'text', 'title of the card'),
      nameOnCard: textOr(CARD_DEFAULTS.nameOnCard, 'text', 'name printed on it'),
      email: textOr(CARD_DEFAULTS.email, 'e-mail', 'e-mail of the holder'),
      merchant: text('name', 'of this merchant (default: the first one)'),
    },
    examples: ['cards create --amount 250 --title Travel'],
  },
  activate: change('activate', 'activate an inactive card'),
  block: change('block', 'block an active card'),
  cancel: change('cancel', 'cancel a card: that is final'),
  charge: movement('charge', 'pay something with a card'),
  fund: movement('fund', 'add money to a card'),
} as const satisfies Declarations;
export type Actions = ActionsOf<typeof COMMANDS>;

export const cards = group({
  name: 'cards',
  summary: 'virtual cards',
  examples: [
    'cards create --amount 250 --title Travel',
    'cards charge card_1 --amount 12.50 --details Coffee',
  ],
  commands: COMMANDS,
  load: () => import('../actions/cards.ts'),
});
