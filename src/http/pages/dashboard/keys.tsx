import { command } from '../../../contract/hint.ts';
import type { Merchant } from '../../../contract/merchant.ts';
import { defaultMerchant } from '../../../domain/merchant.ts';
import { INITIATE_PATHS } from '../../../wire/paths.ts';
import type { AppParts } from '../../environment.ts';
import { Action, Code, Copyable, Facts, Field, type FormValues } from './blocks.tsx';
import { PER_PAGE, PLACES, UI } from './navigation.ts';
import { shownAmount } from './payments.tsx';
import { sampleInitiate } from './samples.ts';
import { Cell, Row, RowHead, Table } from './table.tsx';

/** The page of the keys: the menu that the service interface calls Api Key. */
export function KeysPage({ parts, given }: { parts: AppParts; given: FormValues }) {
  const { state } = parts.gateway;
  const merchants = [...state.merchants.values()];
  const first = defaultMerchant(state);
  const baseUrl = parts.facts.baseUrl();
  const whose = merchants.length > 1 ? ` as ${first.name}` : '';
  return (
    <>
      <h1>Api Key</h1>
      {merchants.slice(0, PER_PAGE).map((merchant) => (
        <MerchantKeys merchant={merchant} parts={parts} alone={merchants.length === 1} />
      ))}
      {merchants.length > PER_PAGE && (
        <>
          <p class="soft">And {merchants.length - PER_PAGE} more:</p>
          <Code
            id="more"
            text={parts.facts.command('gateway-sim keys show')}
            what="The command that shows all keys"
          />
        </>
      )}
      <div class="columns">
        <div class="stack">
          <section class="box" id="env" aria-labelledby="env-name">
            <h2 id="env-name">For your .env{whose}</h2>
            <Code id="env-text" text={environmentLines(baseUrl, first)} what="The environment lines" />
          </section>
          <section class="box" id="try" aria-labelledby="try-name">
            <h2 id="try-name">Try it{whose}</h2>
            <Code
              id="sample"
              text={sampleInitiate(baseUrl, first.publicKey)}
              what="The command that initiates a payment"
            />
          </section>
        </div>
        <div class="stack">
          <Customers parts={parts} />
          <section class="box" id="merchant" aria-labelledby="merchant-name">
            <h2 id="merchant-name">Another merchant</h2>
            <Action to={`${UI}/merchants`}>
              <Field name="name" label="Name" value={given['name']} required hint="Second Shop" />
              <button type="submit" class="plain">
                Add merchant
              </button>
            </Action>
          </section>
        </div>
      </div>
    </>
  );
}

function Customers({ parts }: { parts: AppParts }) {
  const { state, settings } = parts.gateway;
  return (
    <section class="box" id="customers" aria-labelledby="customers-name">
      <h2 id="customers-name">Who can pay</h2>
      <Facts
        rows={[
          ['Sandbox e-mail', <code>{settings.sandboxEmail}</code>],
          ['Sandbox code', <code>{settings.sandboxCode}</code>],
          ['Live e-mail', 'that of a wallet, below'],
          ['Live code', <a href={PLACES.inbox.path}>see the codes sent</a>],
        ]}
      />
      <Table id="wallets" label="Wallets of live mode" columns={['E-mail', ['Balance', 'amount']]}>
        {[...state.wallets.values()].slice(0, PER_PAGE).map((wallet) => (
          <Row name={wallet.id}>
            <RowHead>{wallet.email}</RowHead>
            <Cell kind="amount">{shownAmount(parts, wallet.balance, wallet.currency)}</Cell>
          </Row>
        ))}
      </Table>
    </section>
  );
}

function MerchantKeys({ merchant, parts, alone }: { merchant: Merchant; parts: AppParts; alone: boolean }) {
  const { id, name, publicKey, secretKey } = merchant;
  const balances = Object.entries(merchant.balances);
  return (
    <section class="box" id={id} aria-labelledby={`name-${id}`}>
      <h2 id={`name-${id}`}>{name}</h2>
      <Facts
        rows={[
          ['Public key', <Copyable id={`public-${id}`} text={publicKey} what="the public key" />],
          ['Secret key', <Copyable id={`secret-${id}`} text={secretKey} what="the secret key" />],
          balances.length
            ? ['Balance', balances.map(([code, amount]) => shownAmount(parts, amount, code)).join(', ')]
            : undefined,
        ]}
      />
      <Action
        to={PLACES.keys.path}
        label={alone ? undefined : `Keys of ${name}`}
        confirm={`Generate a new pair for ${name}? The old pair stops working at once.`}
        inline
      >
        <input type="hidden" name="merchant" value={id} />
        <button type="submit" class="danger">
          Generate Api Key
        </button>
        <span class="warning">The old pair stops working at once, everywhere it is used.</span>
      </Action>
    </section>
  );
}

/** The variables that `gateway-sim keys env` prints. */
function environmentLines(baseUrl: string, { publicKey, secretKey }: Merchant): string {
  return [
    `GATEWAY_SIM_URL=${baseUrl}`,
    `GATEWAY_SIM_PUBLIC_KEY=${publicKey}`,
    `GATEWAY_SIM_SECRET_KEY=${secretKey}`,
    `GATEWAY_SIM_INITIATE_URL=${baseUrl}${INITIATE_PATHS.sandbox}`,
  ].join('\n');
}
