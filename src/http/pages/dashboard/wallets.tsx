import { command } from '../../../contract/error.ts';
import { parseInput } from '../../../contract/input.ts';
import { FundInput, type Wallet } from '../../../contract/wallet.ts';
import { inGroups, shownAmount } from '../layout.tsx';
import { CommandCode } from './blocks.tsx';
import { Field, Form } from './forms.tsx';
import { type List, listPage } from './list.tsx';
import type { NounPages } from './page.tsx';
import { ownPage, PLACES, withId } from './paths.ts';

export const FUND = `${PLACES.wallets.path}/:id/fund`;

/** The id of a wallet's row, which is the link target after funding. */
const walletRow = (id: string) => `wallet-${encodeURIComponent(id)}`;

const WALLETS: List<Wallet> = {
  place: 'wallets',
  noun: 'wallet',
  intro: 'Wallets that can pay live checkouts, one for each e-mail and currency.',
  filter: {
    choices: [],
    texts: ['email', 'holder', 'currency', 'id'],
    hint: 'e-mail, holder, currency',
  },
  records: ({ wallets }) => wallets.all,
  columns: (parts, from) => [
    ['E-mail', 'head', ({ email }) => email],
    ['Holder', 'name', ({ holder }) => holder],
    ['Balance', 'amount', ({ balance, currency }) => inGroups(shownAmount(parts, balance, currency))],
    ['Wallet', 'plain', ({ id }) => <code>{id}</code>],
    ['Fund', 'plain', (wallet) => <Fund wallet={wallet} from={from} />],
  ],
  keyOf: ({ id }) => ({ id: walletRow(id) }),
  first: () => (
    <>
      <p>Wallets come from fixtures, an imported state or the configuration file:</p>
      <CommandCode id="init" run={command('init')} does="writes a configuration file" />
    </>
  ),
};

function Fund({ wallet: { id, email, currency }, from }: { wallet: Wallet; from: string }) {
  return (
    <Form
      to={withId(FUND, id)}
      label={`Fund ${email} in ${currency}`}
      hidden={{ from }}
      submit="Fund"
      about={`${email} ${currency}`}
      inline
    >
      <Field name="amount" label="Amount" value="100.00" scope={`${walletRow(id)}-`} />
    </Form>
  );
}

export const WALLET_PAGES: NounPages = {
  pages: { [PLACES.wallets.path]: listPage(WALLETS) },
  forms: {
    [FUND]: async ({ wallets: { fund } }, { amount = '', from }, id) => {
      await fund(id, parseInput(FundInput, { amount: amount.trim() }).amount);
      return `${ownPage(from, PLACES.wallets.path)}#${walletRow(id)}`;
    },
  },
};
