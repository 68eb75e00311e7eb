import { expect, test } from 'vitest';
import { BoundedMap } from '../../src/http/service/bounded-map.ts';

test('remembers the last things only, and what was set again counts as last', () => {
  const recent = new BoundedMap<number>(2);
  recent.set('a', 1);
  recent.set('b', 2);
  recent.set('a', 3);
  recent.set('c', 4);
  expect(['a', 'b', 'c'].map((key) => recent.get(key))).toEqual([3, undefined, 4]);
  recent.delete('c');
  expect(recent.get('c')).toBeUndefined();
});
