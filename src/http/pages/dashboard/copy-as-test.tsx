import type { testsOf } from '../../payment-as-test.ts';
import { FoldedCode, Section } from './blocks.tsx';

/** Shows the tests of a payment, ready to copy. */
export function CopyAsTest({ tests }: { tests: ReturnType<typeof testsOf> }) {
  return (
    <Section id="test" title="Copy as test">
      <p class="soft">
        Initiates this payment again, settles it the same way, and expects the same redirect. If it is paid,
        your shop must accept its IPN.
      </p>
      {tests.map(({ runner, file, text }) => {
        const id = `test-${runner.toLowerCase()}`;
        return (
          <FoldedCode
            id={id}
            title={`${runner} · ${file}`}
            code={`${id}-text`}
            text={text}
            what={`The test for ${runner}`}
          />
        );
      })}
    </Section>
  );
}
