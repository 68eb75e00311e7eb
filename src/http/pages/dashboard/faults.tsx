import { type ActiveFault, describeFault, isSpent } from '../../../contract/active-fault.ts';
import { FAULT_EFFECTS, type FaultMember } from '../../../contract/fault-effects.ts';
import { command } from '../../../contract/hint.ts';
import { FAULT_ROUTES } from '../../../contract/vocabulary.ts';
import { CommandCode, Section } from './blocks.tsx';
import { Field, Form } from './forms.tsx';
import { type PageRenderer, PLACES, pageAt } from './page.tsx';
import { type Column, column, Table } from './table.tsx';

/** What can be made to go wrong from the page; commands and control API know more. */
const EFFECTS = Object.entries<FaultMember>(FAULT_EFFECTS).flatMap(([name, { label }]): [string, string][] =>
  label === undefined ? [] : [[name, label]],
);

const SET = command('faults set', '--help');
const CLEAR = `${PLACES.faults.path}/clear`;

export const faultsPage: PageRenderer = ({ parts }) =>
  pageAt(
    'faults',
    <>
      <h1>Faults</h1>
      {parts.faults.list.length === 0 ? (
        <p class="box" id="no-fault">
          Nothing goes wrong on purpose.
        </p>
      ) : (
        <section class="box" id="faults" aria-label="Rules">
          <Table
            id="fault-list"
            label="Rules, in the order in which they are tried"
            columns={COLUMNS}
            rows={parts.faults.list}
            keyOf={({ rule: { route, identifier = '' } }) => ({ 'data-key': `${route} ${identifier}` })}
          />
          <Form to={CLEAR} submit="Clear all" />
        </section>
      )}
      <Section id="set" title="Make something go wrong">
        <Form to={PLACES.faults.path} submit="Set" look="primary">
          <Field name="route" label="Where" options={FAULT_ROUTES} />
          <Field name="effect" label="What" options={EFFECTS} />
          <Field name="status" label="Status, if it answers one" value="503" placeholder="503" />
          <Field name="latency" label="Latency, if it waits" value="2s" placeholder="2s, 100ms..2s" />
          <Field name="times" label="Times (empty: always)" placeholder="2" />
          <Field name="identifier" label="Only for the identifier" placeholder="order-*" />
        </Form>
        <p class="soft">
          One rule for each place and identifier: a new one replaces it. Statuses one after the other,
          chances, Retry-After and more:
        </p>
        <CommandCode id="more" run={SET} does="tells what rules can do" />
      </Section>
    </>,
  );

const COLUMNS: readonly Column<ActiveFault>[] = [
  column('Rule', (fault) => [describeFault(fault), isSpent(fault) && <span class="soft"> spent</span>], {
    head: true,
  }),
  column('Used', ({ used }) => used, { label: 'Used' }),
  column('Action', ({ rule: { route, identifier = '' } }) => (
    <Form to={CLEAR} hidden={{ route, identifier }} submit="Clear" />
  )),
];
