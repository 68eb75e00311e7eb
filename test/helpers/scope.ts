/** Whether this is `npm run test:release`, which tests every combination; `npm test` tests every behaviour once. */
export const IS_RELEASE = process.env['TEST_SCOPE'] === 'release';

/** For a release, all cases; otherwise, only those that show every behaviour once. */
export function sample<Case>(all: readonly Case[], isTypical: (one: Case) => boolean): Case[] {
  const chosen = all.filter(isTypical);
  if (!chosen.length) throw new Error('no case is typical');
  return IS_RELEASE ? [...all] : chosen;
}
