import { command, GatewayError } from '../../../contract/error.ts';
import { duration } from '../../../contract/time.ts';
import { givenAs, readValue } from '../../../options/resolve.ts';
import { type OptionName, type OptionSpec, START_OPTIONS } from '../../../options/table.ts';
import { fidelityIn } from '../../../system/fidelity.ts';
import { masked } from '../../../system/secret.ts';
import type { AppParts } from '../../environment.ts';
import { Link } from '../layout.tsx';
import { type Column, CommandCode, FactsBox, Section, Table } from './blocks.tsx';
import { Field, Form } from './forms.tsx';
import { type NounPages, type PageRenderer, pageAt } from './page.tsx';
import { PLACES } from './paths.ts';

const DEFAULT = 'default';

interface Setting {
  id: OptionName;
  value: string;
  from: string;
}

/** Shows the options with their sources, and forms for the state. */
const settingsPage: PageRenderer = ({ parts }) => {
  const { runtime } = parts;
  const { profile, documented, observed, chosen, changes } = fidelityIn(runtime.options);
  const facts = [
    ['Profile', <strong>{profile}</strong>],
    ['Behaviours', `${documented} documented, ${observed} observed, ${chosen} chosen`],
    ['Changed', changes.join(', ') || null],
    ['State', runtime.dataDir ? <code>{runtime.dataDir}</code> : 'in memory, until the emulator stops'],
  ] as const;
  const columns: Column<Setting>[] = [
    ['Option', 'head', ({ id }) => runtime.style.option({ option: id })],
    ['Value', 'long', ({ value }) => <code>{value}</code>],
    ['From', 'long', ({ from }) => from],
  ];
  const page = pageAt(
    'settings',
    <>
      <h1>Settings</h1>
      <FactsBox id="profile" label="Profile" rows={facts} />
      <div class="columns">
        <Section id="export" title="Export or import the state">
          <p>
            <Link class="button plain" href="/_sim/snapshot" download="gateway-sim-state.json">
              Export state
            </Link>
          </p>
          <Form to={`${PLACES.settings.path}/import`} submit="Import state" look="danger" forgets>
            <Field name="state" label="Exported state (replaces the current state)" rows={3} wide required />
            <Field name="confirm" label="Type “import” to confirm" scope="import-" required />
          </Form>
          <p class="soft">To import more than 1 MiB:</p>
          <CommandCode id="larger" run={command('state import', 'state.json')} does="imports a state" />
        </Section>
        <Section id="reset" title="Reset the state">
          <p class="soft">
            Removes all payments, IPNs and cards, and cancels scheduled events. Merchants keep their keys.
          </p>
          <Form to={`${PLACES.settings.path}/reset`} submit="Reset state" look="danger" forgets>
            <Field name="confirm" label="Type “reset” to confirm" scope="reset-" required />
          </Form>
        </Section>
      </div>
      <Section id="options" title="Options">
        <Table
          id="option-list"
          label="Options, changed ones first"
          columns={columns}
          rows={settingsIn(parts)}
        />
      </Section>
    </>,
  );
  return { ...page, isStill: true };
};

function settingsIn({ runtime: { options } }: AppParts): Setting[] {
  const all = Object.entries<OptionSpec>(START_OPTIONS).map(([name, spec]) => {
    const id = name as OptionName;
    const value = options[id];
    const standard = spec.default ?? (spec.kind === 'list' ? [] : undefined);
    const fallback = standard === undefined ? undefined : readValue(spec, standard, id);
    const isDefault = id === 'choices' || JSON.stringify(value) === JSON.stringify(fallback);
    const shown = spec.kind === 'duration' && typeof value === 'number' ? duration(value) : written(value);
    const isSecret = spec.kind === 'secret' && id !== 'publicKey' && typeof value === 'string';
    const from = givenAs(options, id) ?? (isDefault ? DEFAULT : 'the profile');
    return { id, value: isSecret ? masked(value) : shown, from };
  });
  return all.toSorted((one, other) => Number(one.from === DEFAULT) - Number(other.from === DEFAULT));
}

function written(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value ?? '–');
  const parts = Array.isArray(value)
    ? value.map(written)
    : Object.entries(value).map(([name, part]) => `${name} ${written(part)}`);
  return parts.join(', ') || '–';
}

export const SETTING_PAGES: NounPages = {
  pages: { [PLACES.settings.path]: settingsPage },
  forms: {
    [`${PLACES.settings.path}/reset`]: async ({ state }, { confirm }) => {
      requireTyped('reset', confirm);
      await state.reset();
      return PLACES.payments.path;
    },
    [`${PLACES.settings.path}/import`]: async ({ state }, { confirm, state: text = '' }) => {
      requireTyped('import', confirm);
      await state.restore(Buffer.from(text));
      return PLACES.payments.path;
    },
  },
};

/** Requires the user to type a word before an action that cannot be undone. @throws GatewayError `invalid_fields` */
function requireTyped(word: string, typed = ''): void {
  if (typed.trim().toLowerCase() === word) return;
  throw new GatewayError('invalid_fields', `confirm must be the word ${word}`);
}
