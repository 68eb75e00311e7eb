import type { ChalkInstance } from 'chalk';
import type { Cause, ConformReport } from '../contract/conform.ts';
import { AREAS, type ManifestLine } from '../contract/manifest.ts';
import { namesOf } from '../contract/vocabulary.ts';
import { onOneLine } from './printable.ts';

/** A report as text: differences, lines that were not seen and why, and the counts. */
export function conformText(
  report: ConformReport,
  held: readonly ManifestLine[],
  { colour, all }: { colour: ChalkInstance; all: boolean },
): string {
  const { target, profile, agree, differ, causes, unseen } = report;
  const counts = [
    colour.green(`${agree} agree`),
    differ.length ? colour.red(`${differ.length} differ`) : '0 differ',
    `${unseen.length} not seen`,
  ];
  return [
    ...(all ? linesText(report, held, colour) : causes.map((one) => causeText(one, colour))),
    ...(differ.length && !all
      ? ['Use --all to show each line with the expected and the actual result.']
      : []),
    ...unseenText(unseen),
    `${target} against the profile ${profile}: ${counts.join(', ')}`,
  ].join('\n');
}

/** Maximum ids per cause. */
const EXAMPLES = 3;

function causeText({ cause, ids }: Cause, colour: ChalkInstance): string {
  const examples = ids.slice(0, EXAMPLES).join(', ') + (ids.length > EXAMPLES ? ', …' : '');
  return `${colour.red('DIFFERS')} ${colour.bold(`${ids.length} x`)} ${onOneLine(cause)} (${examples})`;
}

function linesText(
  { differ }: ConformReport,
  held: readonly ManifestLine[],
  colour: ChalkInstance,
): string[] {
  const byId = new Map(held.map((line) => [line.id, line]));
  return namesOf(AREAS).flatMap((area) => {
    const own = differ.filter(({ id }) => byId.get(id)?.area === area);
    if (!own.length) return [];
    return [
      colour.bold(AREAS[area]),
      ...own.map(({ id, expected, got }) => {
        const { says = '', source } = byId.get(id) ?? {};
        return `  ${colour.red('DIFFERS')} ${colour.bold(id)}: ${says} (${source?.kind})\n    expected: ${onOneLine(expected)}\n    got:      ${onOneLine(got)}`;
      }),
    ];
  });
}

function unseenText(unseen: ConformReport['unseen']): string[] {
  const counts = new Map<string, number>();
  for (const { why } of unseen) counts.set(why, (counts.get(why) ?? 0) + 1);
  return [...counts].map(([why, count]) => `${count} not seen: ${onOneLine(why)}`);
}
