import { falseAlarms } from '../../merchants/handlers/false-alarms.ts';
import { HANDLERS } from '../../merchants/handlers/list.ts';
import { trial } from '../trial.ts';

const NAMES = Object.keys(HANDLERS);

trial('correct handlers in many styles', { short: 2, least: NAMES.length, share: 4 }, async (budget) => {
  const names = budget.shuffled(NAMES);
  await budget.repeat(async (number) => {
    const name = names[number % names.length] ?? '';
    for (const found of await falseAlarms(name)) budget.fail('other', `${name}: ${found}`);
  });
});
