import { useContext } from 'hono/jsx';
import * as z from 'zod/mini';
import { type ActiveFault, describeFault } from '../../../contract/active-fault.ts';
import { shellWord } from '../../../contract/curl.ts';
import { type CommandHint, command, kebab } from '../../../contract/error.ts';
import { FaultRule } from '../../../contract/fault.ts';
import {
  FAULT_CONDITIONS,
  FAULT_EFFECT_NAMES,
  FAULT_EFFECTS,
  type FaultMember,
} from '../../../contract/fault-effects.ts';
import { parseInput } from '../../../contract/input.ts';
import { FAULT_ROUTES, namesOf } from '../../../contract/vocabulary.ts';
import { Link } from '../layout.tsx';
import { type Column, CommandFold, Section, Table } from './blocks.tsx';
import { Clock, moveClock } from './clock.tsx';
import { Field, Form } from './forms.tsx';
import { byName, type NounPages, PageContext, type PageRenderer, pageAt } from './page.tsx';
import { CLOCK, PLACES } from './paths.ts';
import { capitalized } from './text.ts';

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
    does: 'Every IPN fails as if your handler had answered 503.',
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

/** @throws GatewayError `invalid_fields` for an unknown name */
function requirePreset(name: string | undefined): FaultPreset {
  return FAULT_PRESETS[parseInput(PresetForm, { preset: name }).preset];
}

/** The command that sets a rule. */
export function commandFor({ route, ...members }: FaultRule): CommandHint {
  const flags = Object.entries(members).flatMap(([name, value]) => [
    `--${kebab(name)}`,
    ...(value === true ? [] : [String(value)]),
  ]);
  return command('faults set', shellWord(route), ...flags);
}

const SET = command('faults set', '--help');
const CLEAR = `${PLACES.faults.path}/clear`;

const faultsPage: PageRenderer = ({ parts, query }) =>
  pageAt(
    'faults',
    <>
      <h1>Faults & clock</h1>
      {parts.faults.list.length === 0 ? (
        <p class="box" id="no-fault">
          No faults are active.
        </p>
      ) : (
        <section class="box" id="faults" aria-label="Rules">
          <Table
            id="fault-list"
            label="Rules, in the order in which they apply"
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
      <SetFault selected={query['effect']} />
      <Clock parts={parts} />
    </>,
  );

const COLUMNS: readonly Column<ActiveFault>[] = [
  ['Rule', 'head', describeFault],
  ['Used', 'plain', ({ used }) => used, 'Used'],
  [
    'Action',
    'plain',
    ({ rule: { route, identifier = '' } }) => (
      <Form to={CLEAR} hidden={{ route, identifier }} submit="Clear" about={`${route} ${identifier}`} />
    ),
  ],
];

/** Common faults, each with a button and the equivalent command. */
function Presets() {
  return (
    <ul class="choices">
      {Object.entries(FAULT_PRESETS).map(([name, { label, does, rule }]) => (
        <li>
          <Form to={`${PLACES.faults.path}/preset`} send={['preset', name]} submit={label} />
          <p>{does}</p>
          <CommandFold id={`command-${name}`} run={commandFor(rule)} does={`sets ${label}`} />
        </li>
      ))}
    </ul>
  );
}

/** A collapsed form for one effect, with links to the others. @param selected default: `status` */
function SetFault({ selected }: { selected: string | undefined }) {
  const { refusal } = useContext(PageContext);
  const chosen =
    FAULT_EFFECT_NAMES.find((effect) => refusal?.to === formOf(effect)) ??
    FAULT_EFFECT_NAMES.find((effect) => effect === selected) ??
    'status';
  const scope = `${chosen}-`;
  const member: FaultMember = FAULT_EFFECTS[chosen];
  const { kind, label = chosen, words = chosen, sample = '', placeholder = '', ipnOnly } = member;
  const { times, identifier } = FAULT_CONDITIONS;
  return (
    <section class="box" id="set" aria-label="Your own rule">
      <details id="own" open={selected !== undefined || refusal !== undefined}>
        <summary>
          <strong>Your own rule</strong>
        </summary>
        <nav aria-label="Effect">
          <ul class="counts">
            {Object.entries<FaultMember>(FAULT_EFFECTS).map(([effect, { label: name = effect }]) => (
              <li>
                <Link href={pageOf(effect)} aria-current={effect === chosen ? 'true' : undefined}>
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <Form
          to={formOf(chosen)}
          label={label}
          hidden={{ ...(ipnOnly && { route: 'ipn' }), ...(selected && { from: pageOf(chosen) }) }}
          submit="Add rule"
          look="primary"
        >
          {!ipnOnly && <Field name="route" label="Applies to" options={FAULT_ROUTES} scope={scope} />}
          {kind !== 'on' && (
            <Field
              name={chosen}
              label={capitalized(words)}
              value={sample}
              placeholder={placeholder}
              scope={scope}
            />
          )}
          <Field name="times" label={times.label} placeholder="2" scope={scope} />
          <Field name="identifier" label={identifier.label} placeholder="order-*" scope={scope} />
        </Form>
        <p class="soft">There is one rule per route and identifier. A new rule replaces the old one.</p>
        <CommandFold id="more" run={SET} does="combines effects, and sets probabilities and paths" />
      </details>
    </section>
  );
}

const formOf = (effect: string) => `${PLACES.faults.path}/${effect}`;
const pageOf = (effect: string) => `${PLACES.faults.path}?effect=${effect}`;

export const FAULT_PAGES: NounPages = {
  pages: { [PLACES.faults.path]: faultsPage },
  forms: {
    [`${PLACES.faults.path}/preset`]: async ({ faults }, { preset }) => {
      faults.set(requirePreset(preset).rule);
    },
    ...byName(
      PLACES.faults.path,
      FAULT_EFFECT_NAMES,
      (effect) =>
        async ({ faults }, { route, ...fields }) => {
          const { kind }: FaultMember = FAULT_EFFECTS[effect];
          const { times, identifier } = fields;
          const rule = {
            route,
            [effect]: kind === 'on' || writtenValue(kind, fields[effect]),
            ...(times && { times: writtenValue('integer', times) }),
            ...(identifier && { identifier }),
          };
          faults.set(parseInput(FaultRule, rule));
        },
    ),
    [CLOCK]: moveClock,
    [CLEAR]: async ({ faults }, { route, identifier }) => {
      faults.clear(route || undefined, { identifier: identifier || undefined });
    },
  },
};

/** Converts an integer to a number. The schema reports invalid values. */
function writtenValue(kind: FaultMember['kind'], written = ''): string | number {
  return kind === 'integer' && /^\d{1,10}$/.test(written.trim()) ? Number(written) : written.trim();
}
