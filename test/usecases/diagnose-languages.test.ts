import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Diagnosis } from '../../src/contract/diagnosis.ts';
import { launchProgram } from '../helpers/child.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { ask, paid, startSim } from '../helpers/sim.ts';

/*
 * Handlers with one mistake each, in other languages: what they make of a value decides what they sign. None shows what
 * it computed.
 */

const hasPython = spawnSync('python3', ['--version']).status === 0;
const hasPhp = spawnSync('php', ['--version']).status === 0;

/** Serves `POST /<mistake>`, and prints its port. */
const PYTHON = `
import base64, hashlib, hmac, json
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl

KEY = 'sec_sim_example_not_a_real_key'

def sign(text, key=KEY):
    return hmac.new(key.encode(), text.encode(), 'sha256').hexdigest().upper()

MISTAKES = {
    'float': lambda f, raw: sign(f"{float(f['data[amount]'])}{f['identifier']}"),
    'decimal': lambda f, raw: sign(f"{Decimal(f['data[amount]']).quantize(Decimal('0.00000000'))}{f['identifier']}"),
    'none': lambda f, raw: sign(f"{f.get('amount')}{f['identifier']}"),
    'both-none': lambda f, raw: sign(f"{f.get('amount')}{f.get('id')}"),
    'swapped': lambda f, raw: sign(f['identifier'] + f['data[amount]']),
    'lower': lambda f, raw: sign(f['data[amount]'] + f['identifier']).lower(),
    'sha256': lambda f, raw: hashlib.sha256((f['data[amount]'] + f['identifier'] + KEY).encode()).hexdigest().upper(),
    'base64': lambda f, raw: base64.b64encode(bytes.fromhex(sign(f['data[amount]'] + f['identifier']))).decode(),
    'carriage-return': lambda f, raw: sign(f['data[amount]'] + f['identifier'], KEY + '\\r'),
}

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        raw = self.rfile.read(int(self.headers['Content-Length'])).decode()
        fields = dict(parse_qsl(raw))
        try:
            isGood = MISTAKES[self.path[1:]](fields, raw) == fields.get('signature')
        except KeyError:
            isGood = False
        self.send_response(200 if isGood else 400)
        self.end_headers()
        self.wfile.write(b'ok' if isGood else b'rejected')
    def log_message(self, *_):
        pass

server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
print(f'port {server.server_port}', flush=True)
server.serve_forever()
`;

const PHP = `<?php
$key = 'sec_sim_example_not_a_real_key';
$amount = $_POST['data']['amount'] ?? ''; $identifier = $_POST['identifier'] ?? '';
$sign = fn ($text) => strtoupper(hash_hmac('sha256', $text, $key));
$expected = [
    '/float' => fn () => $sign((float) $amount . $identifier),
    '/number-format' => fn () => $sign(number_format((float) $amount, 2) . $identifier),
    '/cents' => fn () => $sign(round($amount * 100) . $identifier),
    '/unread' => fn () => $sign(($_POST['amount'] ?? '') . $identifier),
    '/swapped-arguments' => fn () => strtoupper(hash_hmac('sha256', $key, $amount . $identifier)),
    '/md5' => fn () => md5($amount . $identifier . $key),
    '/lower' => fn () => hash_hmac('sha256', $amount . $identifier, $key),
    '/json' => fn () => ($body = json_decode(file_get_contents('php://input'), true))
        && $body['signature'] === $sign($body['data']['amount'] . $body['identifier']) ? $body['signature'] : null,
][parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH)]();
$given = $_POST['signature'] ?? json_decode(file_get_contents('php://input'), true)['signature'] ?? '';
if ($given !== $expected) { http_response_code(400); exit('rejected'); }
echo 'ok';
`;

/** Diagnoses the IPN of a new order at an address. */
async function diagnosed(url: string, amount: string) {
  const sim = await startSim();
  await paid(sim, { amount, ipn_url: url });
  return (await ask<Diagnosis>(sim, 'POST', '/ipns/order-1/diagnose')).body;
}

describe.skipIf(!hasPython)(`handlers in Python${hasPython ? '' : ' (python3 is missing here)'}`, () => {
  it.each([
    ['float', '49.90', 'amount-reformatted', 'Your code signs 49.9. The IPN says 49.90.'],
    ['float', '100', 'amount-reformatted', 'Your code signs 100.0. The IPN says 100.'],
    ['decimal', '49.90', 'amount-reformatted', 'Your code signs 49.90000000. The IPN says 49.90.'],
    ['none', '49.90', 'undefined-amount', '“Noneorder-1”'],
    ['both-none', '49.90', 'empty-text', '“NoneNone”'],
    ['swapped', '49.90', 'operands-swapped', '“order-149.90”'],
    ['lower', '49.90', 'lower-case', 'lower case'],
    ['sha256', '49.90', 'key-concatenated', 'concatenated'],
    ['base64', '49.90', 'base64', 'base64'],
    ['carriage-return', '49.90', 'key-with-whitespace', 'a carriage return'],
  ])('%s with %s: %s', async (path, amount, mistake, cause) => {
    const file = join(await temporaryFolder(), 'shop.py');
    await writeFile(file, PYTHON);
    const shop = launchProgram(['python3', file]);
    await shop.until((stdout) => stdout.includes('port '));
    const [, port] = /port (\d+)/.exec(shop.stdout()) ?? [];
    const diagnosis = await diagnosed(`http://127.0.0.1:${port}/${path}`, amount);
    expect(diagnosis).toMatchObject({ mistake, cause: expect.stringContaining(cause) });
    expect(diagnosis.fix?.includes('In Python: ')).toBe(true);
  });
});

describe.skipIf(!hasPhp)(`handlers in PHP${hasPhp ? '' : ' (php is missing here)'}`, () => {
  it.each([
    ['float', '49.90', 'amount-reformatted', 'Your code signs 49.9. The IPN says 49.90.'],
    ['number-format', '1234.5', 'amount-reformatted', 'Your code signs 1,234.50. The IPN says 1234.5.'],
    ['cents', '49.90', 'amount-reformatted', 'Your code signs 4990. The IPN says 49.90.'],
    ['unread', '49.90', 'identifier-only', 'Your code signs “order-1”'],
    ['swapped-arguments', '49.90', 'hmac-arguments-swapped', 'Text and key are swapped'],
    ['md5', '49.90', 'md5', 'MD5'],
    ['lower', '49.90', 'lower-case', 'lower case'],
    ['json', '49.90', 'json', 'Your handler reads JSON.'],
  ])('%s with %s: %s', async (path, amount, mistake, cause) => {
    const file = join(await temporaryFolder(), 'shop.php');
    await writeFile(file, PHP);
    const shop = launchProgram(['php', '-S', '127.0.0.1:0', file]);
    await shop.until(() => / started/.test(shop.stdout() + shop.stderr()));
    const [, url] = /\((http:\/\/[\d.:]+)\) started/.exec(shop.stdout() + shop.stderr()) ?? [];
    const diagnosis = await diagnosed(`${url}/${path}`, amount);
    expect(diagnosis).toMatchObject({ mistake, cause: expect.stringContaining(cause) });
  });
});
