import type { Fault as FaultView } from '../../../contract/fault.ts';
import { command } from '../../../contract/hint.ts';
import { FAULT_ROUTES } from '../../../contract/vocabulary.ts';
import { faultView } from '../../control/views.ts';
import type { AppParts } from '../../environment.ts';
import { Action, Choice, Code, Field, type FormValues } from './blocks.tsx';
import { PLACES, UI } from './navigation.ts';
import { Cell, Row, RowHead, Table } from './table.tsx';

/** What can be made to go wrong from the page; commands and control API know more. */
const EFFECTS = [
  ['status', 'answer a status'],
  ['latency', 'wait first (latency)'],
  ['drop', 'close the connection'],
  ['truncate', 'send half of the body'],
  ['malformed', 'spoil the body'],
  ['duplicate', 'ipn: send it twice'],
  ['corruptSignature', 'ipn: applyTampering the signature'],
  ['reorder', 'ipn: let the next overtake it'],
] as const;

/** The page of what goes wrong on purpose. */
export function FaultsPage({ parts, given }: { parts: AppParts; given: FormValues }) {
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
            name="status"
            label="Status, if it answers one"
            value={given['status'] ?? '503'}
            hint="503"
          />
          <Field
            name="latency"
            label="Latency, if it waits"
            value={given['latency'] ?? '2s'}
            hint="2s, 100ms..2s"
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
          One rule for each place and identifier: a new one replaces it. Statuses one after the other,
          chances, Retry-After and more:
        </p>
        <Code
          id="more"
          text={parts.facts.command('gateway-sim faults set --help')}
          what="The command that tells what rules can do"
        />
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
          <Row name={`${fault.route} ${fault.identifier ?? ''}`}>
            <RowHead>
              {fault.summary}
              {fault.spent && <span class="soft"> spent</span>}
            </RowHead>
            <Cell label="Used">{fault.used}</Cell>
            <Cell>
              <Action to={`${UI}/faults/clear`} inline>
                <input type="hidden" name="route" value={fault.route} />
                <input type="hidden" name="identifier" value={fault.identifier ?? ''} />
                <button type="submit" class="plain">
                  Clear
                </button>
              </Action>
            </Cell>
          </Row>
        ))}
      </Table>
      <Action to={`${UI}/faults/clear`} inline>
        <button type="submit" class="plain">
          Clear all
        </button>
      </Action>
    </section>
  );
}
