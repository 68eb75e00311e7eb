import { FLAWS, failedClasses } from '../../merchants/flaws.ts';
import { LANGUAGES, missing } from '../../merchants/running.ts';
import { trial } from '../trial.ts';

for (const language of LANGUAGES) {
  const cannot = missing(language);
  trial(
    `flawed and good shops in ${language}`,
    {
      ...{ short: 1, least: FLAWS.length + 1, share: 3, ...(cannot && { cannot }) },
    },
    async (budget) => {
      const flaws = budget.shuffled([undefined, ...FLAWS]);
      await budget.repeat(async (number) => {
        const flaw = flaws[number % flaws.length];
        const found = await failedClasses(language, flaw, flaw);
        const right = flaw === undefined ? found.length === 0 : found.includes(flaw);
        if (!right)
          budget.fail('other', `flaw ${flaw ?? 'none'}: wrong classes ${found.join(', ') || 'nothing'}`);
      });
    },
  );
}
