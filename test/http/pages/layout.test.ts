import { expect, test } from 'vitest';
import { languageOf } from '../../../src/http/pages/layout.tsx';

test.each([
  ['', 'en'],
  ['fr', 'fr'],
  ['FR-fr;Q=0.8, en;q=0.5', 'fr'],
  ['fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5', 'fr'],
  ['en;q=0.2, fr;q=0.9', 'fr'],
  ['fr, en', 'fr'],
  ['en, fr', 'en'],
  ['de, en;q=0.1, fr;q=0.5', 'fr'],
  ['de, nl', 'en'],
  ['fr;q=0, *', 'en'],
  ['en;q=0, *', 'fr'],
  ['*', 'en'],
  ['*;q=0.8, fr;q=0.5', 'en'],
  ['fr-CA;q=0.3, fr;q=0.7, en;q=0.5', 'fr'],
  ['fr ; q = 0.9 , en ; q=0.8', 'fr'],
  ['frr, gsw', 'en'],
  [';;;,q=,fr;q=x;;', 'fr'],
] as const)('Accept-Language %j leads to %s', (header, language) => {
  expect(languageOf(header)).toBe(language);
});
