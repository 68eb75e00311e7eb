import { quoted } from '../../contract/curl.ts';
import { kebab } from '../../contract/error.ts';
import { phpText, type TestStory } from './test-story.ts';

/** A payment as a test for PHPUnit. It uses the control API of an emulator that `exec` starts. */
export function phpunitText(story: TestStory): string {
  return `<?php

use PHPUnit\\Framework\\TestCase;

/*
 * Your receiver must run and check signatures with the keys of the emulator. \`gateway-sim keys env\` prints keys as
 * variables, which the emulator reads.
 *
 * ${commandOf(story)}
 */
final class PaymentTest extends TestCase
{
    public function testPayment(): void
    {
${indented([...created(story), '', ...settled(story), '', ...delivered(story)])}
    }
${HELPERS}}
`;
}

const indented = (lines: readonly string[]) =>
  lines.map((line) => (line === '' ? '' : `        ${line}`)).join('\n');

/** The command in the test's comment. Options that would end the comment are omitted. */
function commandOf({ options }: TestStory): string {
  const flags = Object.entries(options).flatMap(([name, value]) => {
    const values = [value].flat();
    if (values.some((one) => typeof one === 'object')) return [];
    return value === true ? [`--${kebab(name)}`] : [`--${kebab(name)} ${quoted(values.join(','))}`];
  });
  const written = flags.filter((flag) => !/\*\/|\?>|\n/.test(flag));
  return ['npx gateway-sim exec', ...written, '-- vendor/bin/phpunit PaymentTest.php'].join(' ');
}

function created({ form, initiatePath }: TestStory): string[] {
  return [
    `$initiated = $this->call('POST', ${phpText(initiatePath)}, http_build_query([`,
    "    'public_key' => getenv('GATEWAY_SIM_PUBLIC_KEY'),",
    ...Object.entries(form).map(([name, value]) => `    ${phpText(name)} => ${phpText(value)},`),
    "]), 'application/x-www-form-urlencoded');",
    "parse_str((string) parse_url($initiated['url'], PHP_URL_QUERY), $query);",
    "$id = $query['payment_id'];",
  ];
}

function settled({ payment, outcome, order, redirectUrl }: TestStory): string[] {
  const { status, settledBy } = payment;
  if (outcome === null || settledBy === 'auto') {
    return [
      ...(outcome === null ? [] : ['// It settles automatically.']),
      `$this->until(fn () => $this->control('GET', "/payments/$id")['status'], '${status}');`,
    ];
  }
  const how = order === undefined ? '' : `'delivery' => '${order}', `;
  return [
    `$settled = $this->control('POST', "/payments/$id/settle", ['outcome' => '${outcome}', ${how}'awaitDelivery' => true]);`,
    `$this->assertSame('${status}', $settled['payment']['status']);`,
    ...(redirectUrl === undefined
      ? []
      : [
          `$this->assertSame(${redirectUrl === null ? 'null' : phpText(redirectUrl)}, $settled['redirectUrl']);`,
        ]),
  ];
}

function delivered({ ipns }: TestStory): string[] {
  return [
    `$ipns = array_reverse($this->control('GET', "/ipns?payment=$id")['data']);`,
    `$this->assertCount(${ipns.length}, $ipns);`,
    ...ipns.flatMap(({ state, attempts }, index) => {
      const id = `$ipns[${index}]['id']`;
      return [
        ...attempts.flatMap(({ by }, number) => {
          const statuses = attempts.slice(0, number + 1).map(({ status }) => String(status));
          return [
            ...TRIGGERS[by](id),
            `$this->until(fn () => $this->answers(${id}), [${statuses.join(', ')}]);`,
          ];
        }),
        `$this->assertSame('${state}', $this->control('GET', '/ipns/' . ${id})['state']);`,
      ];
    }),
  ];
}

const TRIGGERS = {
  first: () => [],
  retry: (id: string) => [
    '// The retry: move the clock to its time.',
    `$this->control('POST', '/clock', ['freeze' => $this->control('GET', '/ipns/' . ${id})['nextAttemptAt']]);`,
  ],
  resend: (id: string) => ['// Resent by hand.', `$this->control('POST', '/ipns/' . ${id} . '/resend');`],
};

const HELPERS = `
    /** The status of the response to each attempt. */
    private function answers(string $ipn): array
    {
        return array_column($this->control('GET', "/ipns/$ipn")['attempts'], 'responseStatus');
    }

    private function until(callable $read, mixed $expected): void
    {
        for ($end = microtime(true) + 15; $read() !== $expected && microtime(true) < $end;) {
            usleep(50_000);
        }
        $this->assertSame($expected, $read());
    }

    private function control(string $method, string $path, array $body = []): array
    {
        return $this->call($method, '/_sim' . $path, $method === 'GET' ? '' : json_encode((object) $body, JSON_THROW_ON_ERROR));
    }

    private function call(string $method, string $path, string $body = '', string $type = 'application/json'): array
    {
        $url = getenv('GATEWAY_SIM_URL');
        $this->assertNotFalse($url, 'run it with \`gateway-sim exec\`');
        $context = stream_context_create(['http' => [
            'method' => $method,
            'header' => "Content-Type: $type",
            'content' => $body,
            'ignore_errors' => true,
        ]]);
        $answer = file_get_contents($url . $path, false, $context);
        $this->assertIsString($answer, "no response to $method $path");
        $read = json_decode($answer, true, 512, JSON_THROW_ON_ERROR);
        $this->assertArrayNotHasKey('error', $read, "$method $path: $answer");
        return $read;
    }
`;
