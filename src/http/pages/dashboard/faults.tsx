import type { Fault } from '../../../contract/fault.ts';
import { FAULT_EFFECTS, type FaultMember } from '../../../contract/fault-effects.ts';
import { command } from '../../../contract/hint.ts';
import { FAULT_ROUTES } from '../../../contract/vocabulary.ts';
import { faultView } from '../../control/views.ts';
import { CommandCode, Section } from './blocks.tsx';
import { Action, ButtonForm, Choice, Field, Submit } from './forms.tsx';
import { PLACES } from './navigation.ts';
import { type PageRenderer, pageAt } from './page.ts';
import { type Column, column, Table } from './table.tsx';

/** What can be made to go wrong from the page; commands and control API know more. */
const EFFECTS = Object.entries<FaultMember>(FAULT_EFFECTS).flatMap(([name, { label }]): [string, string][] =>
  label === undefined ? [] : [[name, label]],
);

const SET = command('faults set', '--help');
const CLEAR = `${PLACES.faults.path}/clear`;

export const faultsPage: PageRenderer = ({ parts, given }) => {
  const { route, effect, status = '503', latency = '2s', times, identifier } = given;
  return pageAt(
    'faults',
    <>
      <h1>Faults</h1>
      <Rules rules={parts.faults.list.map(faultView)} />
      <Section id="set" title="Make something go wrong">
        <Action to={PLACES.faults.path}>
          <Choice name="route" label="Where" value={route} options={FAULT_ROUTES} />
          <Choice name="effect" label="What" value={effect} options={EFFECTS} />
          <Field name="status" label="Status, if it answers one" value={status} hint="503" />
          <Field name="latency" label="Latency, if it waits" value={latency} hint="2s, 100ms..2s" />
          <Field name="times" label="Times (empty: always)" value={times} hint="2" />
          <Field name="identifier" label="Only for the identifier" value={identifier} hint="order-*" />
          <Submit>Set</Submit>
        </Action>
        <p class="soft">
          One rule for each place and identifier: a new one replaces it. Statuses one after the other,
          chances, Retry-After and more:
        </p>
        <CommandCode id="more" parts={parts} run={SET} does="tells what rules can do" />
      </Section>
    </>,
  );
};

function Rules({ rules }: { rules: readonly Fault[] }) {
  if (rules.length === 0) {
    return (
      <p class="box" id="no-fault">
        Nothing goes wrong on purpose.
      </p>
    );
  }
  return (
    <section class="box" id="faults" aria-label="Rules">
      <Table
        id="fault-list"
        label="Rules, in the order in which they are tried"
        columns={COLUMNS}
        rows={rules}
        keyOf={({ route, identifier }) => ({ name: `${route} ${identifier ?? ''}` })}
      />
      <ButtonForm to={CLEAR} name="Clear all" />
    </section>
  );
}

const COLUMNS: readonly Column<Fault>[] = [
  column('Rule', Rule, { head: true }),
  column('Used', ({ used }) => used, { label: 'Used' }),
  column('Action', ({ route, identifier = '' }) => (
    <ButtonForm to={CLEAR} hidden={{ route, identifier }} name="Clear" />
  )),
];

function Rule({ summary, spent }: Fault) {
  return (
    <>
      {summary}
      {spent && <span class="soft"> spent</span>}
    </>
  );
}
