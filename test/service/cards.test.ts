import { describe, expect, it } from 'vitest';
import { readToggle } from '../../src/service/cards.ts';

// fixtures/fidelity/manifest.jsonl has the limits of each field.
describe('the fields of a toggle', () => {
  it('are rejected with all problems at the same time', () => {
    expect(() => readToggle({ fields: { active: 'true' }, text: '' })).toThrowError(
      expect.objectContaining({
        problems: [
          'card_id is required',
          'active must be true, false, 1 or 0 (got "true"): send true without quotes',
        ],
      }),
    );
  });

  it.each([
    [true, 'activate'],
    [1, 'activate'],
    [false, 'block'],
    [0, 'block'],
  ])('with active %j mean %s', (active, action) => {
    expect(readToggle({ fields: { card_id: ' card_1 ', active }, text: '' })).toEqual({
      cardId: 'card_1',
      action,
    });
  });
});
