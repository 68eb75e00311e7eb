import type { Payment } from '../../../domain/state.ts';
import type { AppParts } from '../../environment.ts';
import { playwrightText, vitestText } from '../../test-texts/javascript.ts';
import { phpunitText } from '../../test-texts/php.ts';
import { testStoryOf } from '../../test-texts/test-story.ts';
import { FoldedCode, Section } from './blocks.tsx';

const RUNNERS = [
  ['Vitest', 'payment.test.mjs', vitestText],
  ['Playwright', 'payment.spec.mjs', playwrightText],
  ['PHPUnit', 'PaymentTest.php', phpunitText],
] as const;

/** The payment as a test that repeats it and expects the same responses from the receiver. */
export function CopyAsTest({ parts, payment }: { parts: AppParts; payment: Payment }) {
  const story = testStoryOf(payment, parts);
  return (
    <Section id="test" title="Copy as test">
      <p class="soft">
        Creates this payment on a fresh emulator, settles it the same way, and expects the same responses from
        your receiver at <code>{payment.ipnUrl}</code>.
      </p>
      {RUNNERS.map(([runner, file, write]) => {
        const id = `test-${runner.toLowerCase()}`;
        return (
          <FoldedCode
            id={id}
            title={`${runner} · ${file}`}
            code={`${id}-text`}
            text={write(story)}
            what={`The test for ${runner}`}
          />
        );
      })}
    </Section>
  );
}
