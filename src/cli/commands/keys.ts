import { type ActionsOf, type Declarations, group, text } from '../command.ts';

const MERCHANT = { merchant: text('name', 'of this merchant (default: the first one)') };

const COMMANDS = {
  show: { summary: 'the pair of keys', options: MERCHANT },
  generate: {
    summary: 'a new pair; the old one stops working',
    neverGuess: true,
    options: {
      merchant: text('name', 'of this merchant; a new name makes one (default: the first one)'),
    },
    examples: ['keys generate', 'keys generate --merchant "Second Shop"'],
  },
  env: {
    summary: 'the keys as lines of a .env file',
    options: MERCHANT,
    examples: ['keys env >>.env'],
  },
} as const satisfies Declarations;
export type Actions = ActionsOf<typeof COMMANDS>;

export const keys = group({
  name: 'keys',
  summary: "the merchant's keys",
  examples: ['keys', 'keys env'],
  commands: COMMANDS,
  load: () => import('../actions/keys.ts'),
});
