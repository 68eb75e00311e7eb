import { describe, expect, it } from 'vitest';
import { hidePasswords, shownHeaders } from '../../src/contract/credentials.ts';

describe('the password of an address', () => {
  it.each([
    ['http://shop:pa%40ss@localhost/ipn', 'http://shop:…@localhost/ipn'],
    ['to https://a:b@c and http://:d@e.', 'to https://a:…@c and http://:…@e.'],
    ['{"ipnUrl":"http://a:b@c/"}', '{"ipnUrl":"http://a:…@c/"}'],
    [
      'ipn_url=http%3A%2F%2Fshop%3Apa%2540ss%40localhost%2Fipn&a=1',
      'ipn_url=http%3A%2F%2Fshop%3A…%40localhost%2Fipn&a=1',
    ],
  ])('is masked in %s', (text, shown) => {
    expect(hidePasswords(text)).toBe(shown);
  });

  it.each([
    'http://localhost:3000/ipn?mail=a@b.cd',
    'http://shop@localhost/ipn',
    'http://localhost:3000/a:b@c',
    'mail=ada%40example.com&url=http%3A%2F%2Flocalhost%3A3000%2Fa%40b',
  ])('is not seen in %s', (text) => {
    expect(hidePasswords(text)).toBe(text);
  });
});

it('headers with credentials are masked whole', () => {
  const headers = [
    ['AUTHORIZATION', 'Basic eA=='],
    ['Accept', '*/*'],
  ] as const;
  expect(shownHeaders(headers)).toEqual([
    ['AUTHORIZATION', '…'],
    ['Accept', '*/*'],
  ]);
});
