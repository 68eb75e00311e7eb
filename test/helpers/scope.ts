/** Whether this is `npm run test:release`, which tests every combination; `npm test` tests every behaviour once. */
export const IS_RELEASE = process.env['TEST_SCOPE'] === 'release';

/** All cases of a grid in a release; otherwise, those that show every behaviour once. */
export function sample<Case>(all: readonly Case[], isTypical: (one: Case) => boolean): Case[] {
  const chosen = all.filter(isTypical);
  if (!chosen.length) throw new Error('no case of the grid is typical');
  return IS_RELEASE ? [...all] : chosen;
}
