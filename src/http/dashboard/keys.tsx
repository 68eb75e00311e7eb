import { defaultMerchant } from '../../domain/merchant.ts';
import type { Merchant } from '../../domain/state.ts';
import type { AppParts } from '../environment.ts';
import { INITIATE_PATHS } from '../service/initiate.ts';
import { Action, Code, Copyable, Facts, Field, Table, UI } from './frame.tsx';
import { shownAmount } from './payments.tsx';
import { sampleInitiate } from './samples.ts';

/** The page of the keys: the menu that the service interface calls Api Key. */
export function KeysPage({ parts }: { parts: AppParts }) {
  const { state, settings } = parts.gateway;
  const merchants = [...state.merchants.values()];
  const first = defaultMerchant(state);
  const baseUrl = parts.facts.baseUrl();
  return (
    <>
      <h1>Api Key</h1>
      <div id="merchants" data-live class="stack">
        {merchants.map((merchant) => (
          <MerchantKeys merchant={merchant} parts={parts} alone={merchants.length === 1} />
        ))}
      </div>
      <div class="columns">
        <section class="box" aria-labelledby="env">
          <h2 id="env">For your .env</h2>
          <div id="env-lines" data-live>
            <Code id="env-text" text={environmentLines(baseUrl, first)} what="The environment lines" />
          </div>
          <h2>Try it</h2>
          <div id="try" data-live>
            <Code
              id="sample"
              text={sampleInitiate(baseUrl, first.publicKey)}
              what="The command that initiates a payment"
            />
          </div>
        </section>
        <div class="stack">
          <section class="box" aria-labelledby="customers">
            <h2 id="customers">Who can pay</h2>
            <Facts
              rows={[
                ['Sandbox e-mail', <code>{settings.sandboxEmail}</code>],
                ['Sandbox code', <code>{settings.sandboxCode}</code>],
                ['Live e-mail', 'that of a wallet, below'],
                ['Live code', <a href={`${UI}/inbox`}>see the codes sent</a>],
              ]}
            />
            <div id="wallet-balances" data-live>
              <Table id="wallets" label="Wallets of live mode" columns={['E-mail', 'Balance']}>
                {[...state.wallets.values()].slice(0, 40).map((wallet) => (
                  <tr>
                    <th scope="row">{wallet.email}</th>
                    <td class="amount">{shownAmount(parts, wallet.balance, wallet.currency)}</td>
                  </tr>
                ))}
              </Table>
            </div>
          </section>
          <section class="box" aria-labelledby="merchant">
            <h2 id="merchant">Another merchant</h2>
            <Action to={`${UI}/merchants`}>
              <Field name="name" label="Name" required hint="Second Shop" />
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

function MerchantKeys({ merchant, parts, alone }: { merchant: Merchant; parts: AppParts; alone: boolean }) {
  const balances = Object.entries(merchant.balances);
  return (
    <section class="box" aria-labelledby={`name-${merchant.id}`}>
      <h2 id={`name-${merchant.id}`}>{merchant.name}</h2>
      <Facts
        rows={[
          [
            'Public key',
            <Copyable id={`public-${merchant.id}`} text={merchant.publicKey} what="the public key" />,
          ],
          [
            'Secret key',
            <Copyable id={`secret-${merchant.id}`} text={merchant.secretKey} what="the secret key" />,
          ],
          ...(balances.length
            ? ([
                ['Balance', balances.map(([code, amount]) => shownAmount(parts, amount, code)).join(', ')],
              ] as const)
            : []),
        ]}
      />
      <Action
        to={`${UI}/keys`}
        label={alone ? undefined : `Keys of ${merchant.name}`}
        confirm={`Generate a new pair for ${merchant.name}? The old pair stops working at once.`}
      >
        <input type="hidden" name="merchant" value={merchant.id} />
        <button type="submit" class="danger">
          Generate Api Key
        </button>
        <p class="warning">The old pair stops working at once, everywhere it is used.</p>
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
