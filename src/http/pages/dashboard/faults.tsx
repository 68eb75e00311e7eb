import { useContext } from 'hono/jsx';
import { type ActiveFault, describeFault } from '../../../contract/active-fault.ts';
import { FAULT_CONDITIONS, FAULT_EFFECTS, type FaultMember } from '../../../contract/fault-effects.ts';
import { commandFor, FAULT_PRESETS } from '../../../contract/fault-presets.ts';
import { command } from '../../../contract/hint.ts';
import { FAULT_ROUTES } from '../../../contract/vocabulary.ts';
import STYLES from '../assets/actions.css?text';
import { CommandCode, Copyable, Section } from './blocks.tsx';
import { Field, Form, Submit } from './forms.tsx';
import { PageContext, type PageRenderer, PLACES, pageAt } from './page.tsx';
import { type Column, column, Table } from './table.tsx';
import { capitalized } from './text.ts';

const SET = command('faults set', '--help');
const CLEAR = `${PLACES.faults.path}/clear`;

export const faultsPage: PageRenderer = ({ parts }) => {
  const content = (
    <>
      <h1>Faults</h1>
      {parts.faults.list.length === 0 ? (
        <p class="box" id="no-fault">
          No faults are active.
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
      <Section id="presets" title="Presets">
        <Presets />
      </Section>
      <Section id="set" title="Set a fault">
        <div class="folds">
          {Object.entries<FaultMember>(FAULT_EFFECTS).map(([effect, member]) => (
            <EffectForm effect={effect} member={member} />
          ))}
        </div>
        <p class="soft">
          There is one rule for each place and identifier: a new one replaces it. Several effects in one rule,
          chances, paths and more:
        </p>
        <CommandCode id="more" run={SET} does="tells what rules can do" />
      </Section>
    </>
  );
  return { ...pageAt('faults', content), styles: STYLES };
};

const COLUMNS: readonly Column<ActiveFault>[] = [
  column('Rule', describeFault, { head: true }),
  column('Used', ({ used }) => used, { label: 'Used' }),
  column('Action', ({ rule: { route, identifier = '' } }) => (
    <Form to={CLEAR} hidden={{ route, identifier }} inline>
      <Submit>
        Clear <span class="unseen">{`${route} ${identifier}`}</span>
      </Submit>
    </Form>
  )),
];

/** What is wanted often: a button each, and the command that does the same. */
function Presets() {
  const { style } = useContext(PageContext);
  return (
    <ul class="choices">
      {Object.entries(FAULT_PRESETS).map(([name, { label, does, rule }]) => (
        <li>
          <Form to={`${PLACES.faults.path}/preset`} send={['preset', name]} submit={label} />
          <p>{does}</p>
          <Copyable
            id={`command-${name}`}
            text={wordByWord(style.command(commandFor(rule)))}
            what={`the command for ${label}`}
          />
        </li>
      ))}
    </ul>
  );
}

/** A line ends between the words of a command, not at a hyphen within one. */
function wordByWord(text: string) {
  return text.split(' ').flatMap((word, index) => [index > 0 && ' ', <span class="word">{word}</span>]);
}

/** One effect with the fields that apply to it. */
function EffectForm({ effect, member }: { effect: string; member: FaultMember }) {
  const { posted } = useContext(PageContext);
  const to = `${PLACES.faults.path}/${effect}`;
  const scope = `${effect}-`;
  const { kind, label = effect, words = effect, sample = '', placeholder = '', ipnOnly } = member;
  const { times, identifier } = FAULT_CONDITIONS;
  return (
    <details id={`set-${effect}`} name="effect" open={posted?.to === to}>
      <summary>{label}</summary>
      <Form to={to} label={label} hidden={ipnOnly ? { route: 'ipn' } : {}} submit="Set" look="primary">
        {!ipnOnly && <Field name="route" label="Where" options={FAULT_ROUTES} scope={scope} />}
        {kind !== 'on' && (
          <Field
            name={effect}
            label={capitalized(words)}
            value={sample}
            placeholder={placeholder}
            scope={scope}
          />
        )}
        <Field name="times" label={times.label} placeholder="2" scope={scope} />
        <Field name="identifier" label={identifier.label} placeholder="order-*" scope={scope} />
      </Form>
    </details>
  );
}
