import { Clock, ClockInput } from '../../contract/clock.ts';
import type { AppParts } from '../environment.ts';
import { control } from './route.ts';
import { clockView } from './views.ts';

export function clockRoutes({ clock }: AppParts) {
  return [
    control('GET /clock', {
      summary: "The emulator's time",
      answer: Clock,
      run: () => clockView(clock.read()),
    }),
    control('POST /clock', {
      summary: 'Advance, freeze or resume time',
      description: 'Responds after everything that was due has run.',
      body: ClockInput,
      answer: Clock,
      errors: [504],
      run: async ({ body }) => clockView(await clock.move(body)),
    }),
  ];
}
