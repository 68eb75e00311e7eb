import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { pageOf, postForm } from '../../../helpers/forms.ts';
import { startReceiver } from '../../../helpers/receiver.ts';
import { paid, type Sim, startSim } from '../../../helpers/sim.ts';

const PAGE = '/_sim/ui/signature';

function signed({ secretKey }: Pick<Sim, 'secretKey'>, text = '49.90order-1'): string {
  const signature = createHmac('sha256', secretKey).update(text).digest('hex').toUpperCase();
  const fields = { status: 'success', signature, identifier: 'order-1', 'data[amount]': '49.90' };
  return new URLSearchParams(fields).toString();
}

describe('the signature checker', () => {
  it('accepts a valid IPN, also as print_r prints it, and shows code in each language that computes its signature', async () => {
    const sim = await startSim();
    const { status, html } = await postForm(sim, PAGE, { body: signed(sim) });
    expect([status, html.includes('Valid: the signature is correct')]).toEqual([200, true]);
    expect(html).toContain('data-verdict="good"');
    for (const line of ['hash_hmac(', 'createHmac(', 'hmac.new(']) expect(html).toContain(line);
    expect(html).toContain('identifier=order-1&amp;data%5Bamount%5D=49.90</textarea>');
    const lines = [...new URLSearchParams(signed(sim))].map(([name, value]) => `    [${name}] => ${value}`);
    const printed = await postForm(sim, PAGE, { body: `Array\n(\n${lines.join('\n')}\n)` });
    expect(printed.html).toContain('data-verdict="good"');
  });

  it('shows the signed text and the expected text, and marks the difference', async () => {
    const sim = await startSim();
    const { html } = await postForm(sim, PAGE, { body: signed(sim, '49.9order-1') });
    expect(html).toContain('data-verdict="bad"');
    expect(html).toContain('you signed 49.9. Sign the amount exactly as it arrived: 49.90');
    expect(html).toContain('<dt>Signed text</dt><dd><code>49.9<mark>0</mark>order-1</code></dd>');
    expect(html).toContain('<dt>Your handler signed</dt><dd><code>49.9order-1</code></dd>');
    const expected = createHmac('sha256', sim.secretKey).update('49.90order-1').digest('hex').toUpperCase();
    expect(html).toContain(`<dt>Expected</dt><dd><code>${expected}</code></dd>`);
  });

  it("uses the selected merchant's key, and names the merchant whose key was used by mistake", async () => {
    const sim = await startSim();
    const other = await sim.server.parts.merchants.add('Second Shop');
    const body = signed(other);
    expect((await postForm(sim, PAGE, { body, merchant: other.id })).html).toContain('data-verdict="good"');
    const { html } = await postForm(sim, PAGE, { body, merchant: '' });
    expect(html).toContain('it was signed with the secret key of the merchant &quot;Second Shop&quot;');
    expect(html).not.toContain(other.secretKey);
  });

  it('accepts the id of an IPN, and checks its last attempt', async () => {
    const sim = await startSim();
    const { delivery } = await paid(sim);
    const { html } = await postForm(sim, PAGE, { body: ` ${delivery?.id}\n` });
    expect(html).toContain('data-verdict="good"');
  });

  it("explains a computed signature on an IPN's page", async () => {
    const sim = await startSim();
    const { url } = await startReceiver([{ status: 400 }]);
    const { delivery } = await paid(sim, { ipn_url: url });
    const id = delivery?.id ?? '';
    expect(await pageOf(sim, `/_sim/ui/ipns/${id}`)).toMatch(
      new RegExp(`<form[^>]* action="${PAGE}"[^>]*>.*value="${id}".*name="signature"`),
    );
    const signature = createHmac('sha256', sim.secretKey).update('49.90order-1').digest('hex');
    const { html } = await postForm(sim, PAGE, { body: id, signature });
    expect(html).toContain('Write the digest as upper-case hexadecimal.');
    expect(html).toContain('your handler computes a different signature from the gateway');
    expect(html).toContain('data-verdict="bad"');
    // Both the signature that was sent and the computed one.
    const upper = signature.toUpperCase();
    expect(html).toMatch(
      new RegExp(
        `<dt>Sent</dt><dd><code>${upper}</code>.*<dt>Your handler computed</dt><dd><code>${signature}</code>`,
      ),
    );
  });

  it.each([
    [{ body: '' }, 422, 'the body to verify is empty'],
    [{ body: 'ipn_none' }, 404, 'ipn_none'],
    [{ body: 'status=success', merchant: 'nobody' }, 404, 'nobody'],
  ])('rejects %j with an explanation and keeps the input', async (given, status, problem) => {
    const sim = await startSim();
    const answer = await postForm(sim, PAGE, given);
    expect(answer.status).toBe(status);
    expect(answer.html).toMatch(/role="alert"/);
    expect(answer.html).toContain(problem);
    expect(answer.html).toContain(`>${given.body}</textarea>`);
  });

  it('rejects text that is longer than any IPN', async () => {
    const body = `status=success&signature=AB&data[amount]=1&identifier=${'x'.repeat(500_000)}`;
    const { status, html } = await postForm(await startSim(), PAGE, { body });
    expect([status, html.includes('an IPN must not exceed 65536 bytes')]).toEqual([422, true]);
  });
});
