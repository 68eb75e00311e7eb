import * as z from 'zod/mini';
import { type ActiveFault, describeFault } from '../../../contract/active-fault.ts';
import { command } from '../../../contract/error.ts';
import type { FaultRule } from '../../../contract/fault.ts';
import { parseInput } from '../../../contract/input.ts';
import { namesOf } from '../../../contract/vocabulary.ts';
import type { AppDependencies } from '../../environment.ts';
import { type Column, Copyable, Section, Table } from './blocks.tsx';
import { Form } from './forms.tsx';
import type { NounPages } from './page.tsx';
import { CLEAR_FAULTS, PLACES } from './paths.ts';

/** A common fault, ready to set (chosen). */
interface FaultPreset {
  label: string;
  /** What it does, in one sentence. */
  does: string;
  rule: FaultRule;
}

export const FAULT_PRESETS = {
  'receiver-down': {
    label: 'Receiver down',
    does: 'Every IPN fails as if your handler had returned 503.',
    rule: { route: 'ipn', status: 503 },
  },
  'slow-gateway': {
    label: 'Slow gateway',
    does: 'Every response of the service takes 5 seconds longer.',
    rule: { route: '/*', latency: '5s' },
  },
  'lost-ipn': {
    label: 'Lost IPN',
    does: 'The next attempt is lost: your handler never sees it.',
    rule: { route: 'ipn', drop: true, times: 1 },
  },
  'ipn-twice': {
    label: 'IPN twice',
    does: 'Every IPN that your handler accepts is sent a second time.',
    rule: { route: 'ipn', duplicate: true },
  },
} as const satisfies Record<string, FaultPreset>;

const PresetForm = z.strictObject({ preset: z.enum(namesOf(FAULT_PRESETS)) });

const SET = command('faults set', '--help');
const PRESET = `${PLACES.settings.path}/preset`;

/** Shows the rules, and common faults, each with a button. */
export function Faults({ parts: { faults, runtime } }: { parts: AppDependencies }) {
  return (
    <Section id="faults" title="Faults">
      <Table
        id="fault-list"
        label="Rules, in the order in which they apply"
        columns={COLUMNS}
        rows={faults.list}
        none="No faults are active."
      />
      <ul class="choices">
        {Object.entries(FAULT_PRESETS).map(([name, { label, does }]) => (
          <li>
            <Form to={PRESET} send={['preset', name]} submit={label} />
            <p>{does}</p>
          </li>
        ))}
      </ul>
      <p>
        For any other rule:{' '}
        <Copyable id="set-fault" text={runtime.style.command(SET)} what="the command that explains rules" />
      </p>
    </Section>
  );
}

const COLUMNS: readonly Column<ActiveFault>[] = [
  ['Rule', 'head', describeFault],
  ['Used', 'plain', ({ used }) => used, 'Used'],
  [
    'Action',
    'plain',
    ({ rule: { route, identifier = '' } }) => (
      <Form
        to={CLEAR_FAULTS}
        hidden={{ route, identifier }}
        submit="Clear"
        about={`${route} ${identifier}`}
      />
    ),
  ],
];

export const FAULT_FORMS: NounPages['forms'] = {
  [PRESET]: async ({ faults }, { preset }) => {
    faults.set(FAULT_PRESETS[parseInput(PresetForm, { preset }).preset].rule);
  },
  [CLEAR_FAULTS]: async ({ faults }, { route, identifier }) => {
    faults.clear(route || undefined, { identifier: identifier || undefined });
  },
};
