import { FAULT_ROUTES } from '../../domain/fault.ts';
import { type FaultView, faultView } from '../control/faults.ts';
import type { AppParts } from '../environment.ts';
import { Action, Choice, Field, type Given, Table } from './blocks.tsx';
import { PLACES, UI } from './places.ts';

/** What can be made to go wrong from the page; commands and control API know more. */
const EFFECTS = [
  ['status', 'answer a status'],
  ['latency', 'wait first'],
  ['drop', 'close the connection'],
  ['truncate', 'send half of the body'],
  ['malformed', 'spoil the body'],
  ['duplicate', 'ipn: send it twice'],
  ['corruptSignature', 'ipn: falsify the signature'],
  ['reorder', 'ipn: let the next overtake it'],
] as const;

/** The page of what goes wrong on purpose. */
export function FaultsPage({ parts, given }: { parts: AppParts; given: Given }) {
  const faults = parts.faults.list.map(faultView);
  return (
    <>
      <h1>Faults</h1>
      {faults.length > 0 ? (
        <FaultTable faults={faults} />
      ) : (
        <p class="box" id="no-fault">
          Nothing goes wrong on purpose.
        </p>
      )}
      <section class="box" id="set" aria-labelledby="set-name">
        <h2 id="set-name">Make something go wrong</h2>
        <Action to={PLACES.faults.path}>
          <Choice
            name="route"
            label="Where"
            value={given['route']}
            options={FAULT_ROUTES.map((route) => [route, route])}
          />
          <Choice name="effect" label="What" value={given['effect']} options={EFFECTS} />
          <Field
            name="value"
            label="Status, or time to wait"
            value={given['value'] ?? '503'}
            hint="503, 2s, 100ms..2s"
          />
          <Field name="times" label="Times (empty: always)" value={given['times']} hint="2" />
          <Field
            name="identifier"
            label="Only for the identifier"
            value={given['identifier']}
            hint="order-*"
          />
          <button type="submit">Set</button>
        </Action>
        <p class="soft">
          Statuses one after the other, chances, Retry-After and more:{' '}
          <code>gateway-sim faults set --help</code>
        </p>
      </section>
    </>
  );
}

function FaultTable({ faults }: { faults: readonly FaultView[] }) {
  return (
    <section class="box" id="faults" aria-label="Rules">
      <Table
        id="fault-list"
        label="Rules, in the order in which they are tried"
        columns={['Rule', 'Used', 'Action']}
      >
        {faults.map((fault) => (
          <tr data-key={fault.route}>
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
  );
}
