import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mapped, readForwarding } from '../../src/domain/host-map.ts';

function readValid(...texts: string[]) {
  const forwarding = readForwarding(texts);
  if (typeof forwarding === 'string') throw new Error(forwarding);
  return forwarding;
}

describe('a mapping', () => {
  it.each([
    ['shop.example=127.0.0.1:8080', 'shop.example', 'http://127.0.0.1:8080'],
    ['Shop.Example=LOCALHOST', 'shop.example', 'http://localhost'],
    ['shop.example:8443=https://b:8443', 'shop.example:8443', 'https://b:8443'],
    ['10.0.0.5=[::1]:80', '10.0.0.5', 'http://[::1]:80'],
    ['bücher.example=localhost', 'xn--bcher-kva.example', 'http://localhost'],
  ])('%s maps %s to %s', (text, from, to) => {
    expect(readValid(text)).toEqual({ to: null, hosts: new Map([[from, to]]) });
  });

  it('may be combined with one address for all IPNs', () => {
    const to = 'http://localhost:3000/ipn?a=b';
    expect(readValid('a=b', to)).toEqual({ to, hosts: new Map([['a', 'http://b']]) });
  });

  it.each([
    [['shop.example'], 'must be an absolute http or https address, or have the form host=target'],
    [['shop.example='], 'have the form host=target'],
    [['http://'], 'must be an absolute http or https address'],
    [['shop.example=127.0.0.1/ipn'], 'needs a host on the right'],
    [['shop.example=user@127.0.0.1'], 'needs a host on the right'],
    [['shop.example=ftp://127.0.0.1'], 'needs a host on the right'],
    [['shop.example=127.0.0.1:65536'], 'needs a host on the right'],
    [['a/b=127.0.0.1'], 'needs a host on the left'],
    [['shop.example=shop.example'], 'maps a host to itself'],
    [['a=b', 'a=c'], 'maps a twice, to http://b and to http://c'],
    [['http://a/', 'http://b/'], 'accepts only one address for all IPNs'],
  ])('%j is rejected', (texts, problem) => {
    expect(readForwarding(texts)).toContain(problem);
  });
});

describe('an address', () => {
  const { hosts } = readValid(
    'shop.example=127.0.0.1:8080',
    'shop.example:8443=https://b',
    'a.example=c',
    'c=d',
  );

  it.each([
    ['https://shop.example/ipn?a=1&b=%20', 'http://127.0.0.1:8080/ipn?a=1&b=%20'],
    ['HTTP://SHOP.example:81/é?q=✓#x', 'http://127.0.0.1:8080/é?q=✓#x'],
    ['https://shop.example:8443', 'https://b'],
    ['https://shop.example?cart=/../1', 'http://127.0.0.1:8080?cart=/../1'],
    ['https://user:pass@shop.example/', 'http://user:pass@127.0.0.1:8080/'],
    // The target of a mapping is not mapped again.
    ['https://a.example/', 'http://c/'],
    ['https://other.example/?u=https://shop.example/', 'https://other.example/?u=https://shop.example/'],
    ['https://shop.example.evil/', 'https://shop.example.evil/'],
    ['no address', 'no address'],
  ])('%s is mapped to %s', (url, target) => {
    expect(mapped(url, hosts)).toBe(target);
  });

  it('keeps every character after the host and is unchanged without a map', () => {
    const rest = fc.stringMatching(/^([/?#][!-~¡-ÿ]*)?$/);
    fc.assert(
      fc.property(rest, (text) => {
        const url = `https://shop.example${text}`;
        expect(mapped(url, hosts)).toBe(`http://127.0.0.1:8080${text}`);
        expect(mapped(url, new Map())).toBe(url);
      }),
    );
  });
});
