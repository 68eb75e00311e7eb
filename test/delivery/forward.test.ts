import { describe, expect, it } from 'vitest';
import { asHeader, targetOf } from '../../src/delivery/forward.ts';
import { dueDelivery, pendingPayment, settings, state } from '../helpers/records.ts';

const forwardingTo = (forwardTo: string | null) => settings({ ipn: { forwardTo } });

function forwarded(ipnUrl: string, forwardTo: string | null, url = ipnUrl) {
  const held = state();
  const payment = pendingPayment(held, { ipnUrl });
  return targetOf(dueDelivery(url, { paymentId: payment.id, url }), held, forwardingTo(forwardTo));
}

describe('the target of a delivery', () => {
  it.each([
    ['https://shop.example/ipn', 'http://localhost:3000/ipn', 'http://localhost:3000/ipn'],
    ['https://shop.example?x=1', 'http://localhost:3000/ipn', 'http://localhost:3000/ipn?x=1'],
    ["https://shop.example/?a='b'&c=%20", 'http://localhost:3000', "http://localhost:3000?a='b'&c=%20"],
    ['https://shop.example/?a=1', 'http://localhost:3000/?', 'http://localhost:3000/?a=1'],
    ['https://shop.example/?a=1', 'http://localhost:3000/?b', 'http://localhost:3000/?b&a=1'],
    ['https://shop.example/?a=1#top', 'http://localhost:3000/#mine', 'http://localhost:3000/?a=1#mine'],
    ['https://shop.example/#a?b', 'http://localhost:3000/', 'http://localhost:3000/'],
  ])('for %s, forwarded to %s, is %s', (ipnUrl, forwardTo, url) => {
    expect(forwarded(ipnUrl, forwardTo)).toEqual({ url, original: ipnUrl, named: url });
  });

  it('is its own address without forwarding, or when the user entered the address', () => {
    const own = { url: 'http://127.0.0.1:3000/ipn', original: null, named: 'http://127.0.0.1:3000/ipn' };
    expect(forwarded(own.url, null)).toEqual(own);
    expect(forwarded('https://shop.example/', 'http://localhost:1/', own.url)).toEqual(own);
    const invented = dueDelivery(own.url, { paymentId: null });
    expect(targetOf(invented, state(), forwardingTo('http://localhost:1/'))).toEqual(own);
  });
});

it.each([
  ['http://shop.example/ipn?order=1', 'http://shop.example/ipn?order=1'],
  ['http://shop.example/é?q=✓', 'http://shop.example/%C3%A9?q=%E2%9C%93'],
])('%s as a header value is %s', (url, header) => {
  expect(asHeader(url)).toBe(header);
});
