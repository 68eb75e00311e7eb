/** Whether this is `npm run test:release`, which tests every combination; `npm test` tests every behaviour once. */
export const IS_RELEASE = process.env['TEST_SCOPE'] === 'release';

/** The cases of an audit: for a release, undefined, which is all quick ones; otherwise some of most kinds, which take a second. */
export const AUDIT_CASES = IS_RELEASE
  ? undefined
  : ['A', 'D', 'F', 'replay-at-once', 'copies-20', 'canceled-after-success', 'fields-extra'];

/** For a release, all cases; otherwise, only those that show every behaviour once. */
export function sample<Case>(all: readonly Case[], isTypical: (one: Case) => boolean): Case[] {
  const chosen = all.filter(isTypical);
  if (!chosen.length) throw new Error('no case is typical');
  return IS_RELEASE ? [...all] : chosen;
}
