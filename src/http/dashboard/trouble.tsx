import { timestamp } from '../../domain/settings.ts';
import { faultView } from '../control/faults.ts';
import type { AppParts } from '../environment.ts';
import { Action, Choice, Facts, Field, Table, Time, UI } from './frame.tsx';

const ROUTES = ['initiate', 'checkout', 'cards', 'ipn'] as const;

/** What can be made to go wrong from the page; commands and control API know more. */
const EFFECTS = [
  ['status', 'answer with the status'],
  ['latency', 'wait first'],
  ['drop', 'close the connection'],
  ['truncate', 'send half of the body'],
  ['malformed', 'spoil the body'],
  ['duplicate', 'ipn: send it twice'],
  ['corruptSignature', 'ipn: falsify the signature'],
  ['reorder', 'ipn: let the next overtake it'],
] as const;

/** The page of what goes wrong on purpose. */
export function FaultsPage({ parts }: { parts: AppParts }) {
  const faults = parts.faults.list.map(faultView);
  return (
    <>
      <h1>Faults</h1>
      <div id="faults" data-live>
        {faults.length > 0 ? (
          <section class="box" aria-label="Rules in force">
            <Table
              id="fault-list"
              label="Rules, in the order in which they are tried"
              columns={['Rule', 'Used', 'Action']}
            >
              {faults.map((fault) => (
                <tr>
                  <th scope="row">
                    {fault.summary}
                    {fault.spent && <span class="soft"> spent</span>}
                  </th>
                  <td>{fault.used}</td>
                  <td>
                    <Action to={`${UI}/faults/clear`} inline>
                      <input type="hidden" name="route" value={fault.route} />
                      <button type="submit" class="plain">
                        Take away
                      </button>
                    </Action>
                  </td>
                </tr>
              ))}
            </Table>
            <Action to={`${UI}/faults/clear`} inline>
              <button type="submit" class="plain">
                All off
              </button>
            </Action>
          </section>
        ) : (
          <p class="box">Nothing goes wrong on purpose.</p>
        )}
      </div>
      <section class="box" aria-labelledby="set">
        <h2 id="set">Make something go wrong</h2>
        <Action to={`${UI}/faults`}>
          <Choice name="route" label="Where" options={ROUTES.map((route) => [route, route])} />
          <Choice name="effect" label="What" options={EFFECTS} />
          <Field name="value" label="Status, or time to wait" value="503" hint="503, 2s, 100ms..2s" />
          <Field name="times" label="So many times (empty: always)" hint="2" />
          <Field name="identifier" label="Only for the identifier" hint="order-*" />
          <button type="submit">Set</button>
        </Action>
        <p class="soft">
          <code>gateway-sim faults set --help</code> knows more.
        </p>
      </section>
    </>
  );
}

/** The page of the emulator's time. */
export function ClockPage({ parts }: { parts: AppParts }) {
  const { now, frozen, ahead, nextDue } = parts.clock.read();
  return (
    <>
      <h1>Clock</h1>
      <section class="box" aria-label="Time" id="time" data-live>
        <Facts
          rows={[
            ['Now (UTC)', <Time at={timestamp(now)} />],
            ['It', frozen ? 'stands still' : 'runs'],
            ['Ahead of real time', `${Math.round(ahead / 1_000)} s`],
            ['Next due', nextDue === null ? 'nothing waits' : <Time at={timestamp(nextDue)} />],
          ]}
        />
      </section>
      <section class="box" aria-labelledby="move">
        <h2 id="move">Move it</h2>
        <p class="soft">
          Forward only. What falls due on the way runs, in order, before the page comes back.
        </p>
        <Action to={`${UI}/clock`} label="Advance">
          <input type="hidden" name="move" value="advance" />
          <Field name="by" label="Advance by" value="1h" hint="30s, 10m, 2h" required />
          <button type="submit">Advance</button>
        </Action>
        <div class="inline">
          {(frozen ? (['resume'] as const) : (['freeze'] as const)).map((move) => (
            <Action to={`${UI}/clock`} inline>
              <button type="submit" name="move" value={move} class="plain">
                {move === 'freeze' ? 'Freeze' : 'Resume'}
              </button>
            </Action>
          ))}
        </div>
      </section>
    </>
  );
}
