<?php

if (PHP_VERSION_ID < 80100) exit('GatewaySim.php needs PHP 8.1 or newer. This is PHP ' . PHP_VERSION . ".\n");

/**
 * gateway-sim for tests in PHP 8.1 or newer, without dependencies. It uses the emulator at GATEWAY_SIM_URL, which
 * `gateway-sim exec` sets. Without it, it starts an emulator in memory that stops with this process. Set GATEWAY_SIM_BIN
 * to the program if it is neither in a node_modules folder nor on the PATH.
 *
 *     $sim = GatewaySim::start();
 *     $order = $sim->initiate(['ipn_url' => $sim->serve('public/index.php') . '/ipn']);
 *     $sim->approve($order['identifier']);
 *
 * A reference is a payment id, or an identifier: its newest pending payment, or its newest if none is pending.
 * Every failure is a GatewaySimError that says what happened instead.
 */
final class GatewaySim
{
    /** Run by `gateway-sim exec`: prints its environment, and ends when its stdin closes. */
    private const PRINT_ENVIRONMENT = 'console.log(JSON.stringify(process.env)); process.stdin.resume();';
    /** Runs PHP's web server, and stops it when stdin closes. */
    private const SERVE = '$server = proc_open([PHP_BINARY, "-S", "127.0.0.1:0", $argv[1]], [], $pipes);'
        . 'stream_get_contents(STDIN); proc_terminate($server);';

    /** Without a trailing slash. */
    public string $url;
    public string $publicKey;
    public string $secretKey;
    /** Where your shop initiates payments. */
    public string $initiateUrl;

    /** @param list<array{resource, resource, resource}> $children process, its stdin, its output */
    private function __construct(private array $environment, private array $children)
    {
        $this->url = rtrim($environment['GATEWAY_SIM_URL'], '/');
        $this->initiateUrl = "$this->url/sandbox/payment/initiate";
        if (!preg_match('~^https?://~i', $this->url)) throw new GatewaySimError("GATEWAY_SIM_URL is not an http address.");
        $merchants = $this->call('GET', '/_sim/merchants')['data'] ?? [];
        $first = array_column($merchants, null, 'isDefault')[true] ?? throw new GatewaySimError(
            "$this->url is not gateway-sim. Set GATEWAY_SIM_URL to an emulator, or unset it.",
        );
        $this->publicKey = ($environment['GATEWAY_SIM_PUBLIC_KEY'] ?? '') ?: $first['publicKey'];
        $this->secretKey = ($environment['GATEWAY_SIM_SECRET_KEY'] ?? '') ?: $first['secretKey'];
    }

    /** @param string ...$options of `gateway-sim start`, as on a command line: `'--auto', 'approve'` */
    public static function start(string ...$options): self
    {
        if (!getenv('GATEWAY_SIM_URL')) {
            $command = [...self::program(), 'exec', '--quiet', ...$options, '--', 'node', '-e', self::PRINT_ENVIRONMENT];
            $child = self::spawn($command, getenv(), '/^\{.*"GATEWAY_SIM_URL".*\}$/m', $found, 'Install gateway-sim'
                . ' with npm, or set GATEWAY_SIM_BIN to the program, or GATEWAY_SIM_URL to an emulator.');
            return new self(json_decode($found[0], true), [$child]);
        }
        if (!$options) return new self(getenv(), []);
        throw new GatewaySimError('start() got options, but GATEWAY_SIM_URL names a running emulator.'
            . ' Pass the options to that emulator, or unset the variable.');
    }

    /**
     * Runs your own code in PHP's web server, with the emulator's variables.
     *
     * @param string $script the IPN handler, or the front controller
     * @param array<string, string> $environment additional variables for it
     * @return string its address, without a trailing slash
     */
    public function serve(string $script, array $environment = []): string
    {
        $path = realpath($script) ?: throw new GatewaySimError(
            "serve() found no file $script. Specify its path from " . getcwd() . ', or with __DIR__.',
        );
        $keys = ['GATEWAY_SIM_PUBLIC_KEY' => $this->publicKey, 'GATEWAY_SIM_SECRET_KEY' => $this->secretKey];
        $initiate = ['GATEWAY_SIM_INITIATE_URL' => $this->initiateUrl];
        $command = [PHP_BINARY, '-r', self::SERVE, '--', $path];
        $environment += $keys + $initiate + $this->environment;
        $this->children[] = self::spawn($command, $environment, '~\((http://.+?)\) started~', $found, 'Is it php-cli?');
        return $found[1];
    }

    /**
     * Initiates a sandbox payment as a shop does, through the service. Every field has a working default.
     *
     * @return array<string, mixed> the `url` for the customer, and the payment's record
     */
    public function initiate(array $fields = []): array
    {
        $defaults = [
            'public_key' => $this->publicKey, 'identifier' => bin2hex(random_bytes(10)), 'currency' => 'USD',
            'amount' => '49.90', 'details' => 'Test payment', 'ipn_url' => 'http://localhost:3000/ipn',
            'success_url' => "$this->url/_sim/ui/paid", 'cancel_url' => "$this->url/_sim/ui/canceled",
            'site_logo' => "$this->url/_sim/ui/logo.svg", 'checkout_theme' => 'light',
            'customer_name' => 'Ada Example', 'customer_email' => 'wallet@example.com',
        ];
        if ($unknown = array_diff_key($fields, $defaults)) {
            throw new GatewaySimError('unknown field ' . implode(', ', array_keys($unknown))
                . ' of initiate(). Use ' . implode(', ', array_keys($defaults)) . '.');
        }
        $answer = $this->call('POST', '/sandbox/payment/initiate', http_build_query($fields + $defaults));
        parse_str((string) parse_url($answer['url'], PHP_URL_QUERY), $query);
        return $answer + $this->call('GET', '/_sim/payments/' . $query['payment_id']);
    }

    /** The customer pays, and the IPN is attempted. @return array `payment`, `delivery` with its attempts, `redirectUrl` */
    public function approve(string $reference): array { return $this->settle($reference, 'approve'); }

    /** The customer cancels. */
    public function cancel(string $reference): array { return $this->settle($reference, 'cancel'); }

    /** The payment fails. */
    public function fail(string $reference): array { return $this->settle($reference, 'fail'); }

    /**
     * The fields of the newest IPN as sent, even without a response, in the shape of $_POST.
     *
     * @param float $seconds how long to wait for its first attempt to end
     */
    public function waitForIpn(string $reference, float $seconds = 4): array
    {
        for ($end = microtime(true) + $seconds; ; usleep(20_000)) {
            $ipn = $this->newestIpn($reference);
            $isLate = microtime(true) > $end;
            if ($ipn && ($ipn['attempts'] || $isLate && $ipn['underWay'])) {
                parse_str($ipn['body'], $fields);
                return $ipn['contentType'] === 'application/json' ? json_decode($ipn['body'], true) : $fields;
            }
            if ($isLate || $ipn && $ipn['state'] === 'refused') throw $this->withoutIpn($reference, $ipn);
        }
    }

    /**
     * Waits until the newest genuine IPN of a payment was delivered with a correct response. If the receiver rejects it,
     * it is asked why, with variants of the IPN (3 s at most); false turns that off.
     *
     * @param string|array $reference a payment or an IPN, or its id or identifier
     * @return array the IPN
     */
    public function assertDelivered(string|array $reference, bool $diagnose = true, float $seconds = 4): array
    {
        $reference = is_array($reference) ? $reference['id'] : $reference;
        for ($end = microtime(true) + $seconds; ; usleep(20_000)) {
            $ipn = $this->newestIpn($reference, isGenuine: true);
            if ($ipn && ($ipn['state'] !== 'pending' || $ipn['verdict']['tone'] === 'bad')) break;
            if (microtime(true) > $end) throw $this->withoutIpn($reference, $ipn);
        }
        if (self::isDelivered($ipn)) return $ipn;
        if ($diagnose && (end($ipn['attempts'])['responseStatus'] ?? null)) {
            try {
                $this->call('POST', "/_sim/ipns/$ipn[id]/diagnose", '{"automatic":true}');
            } catch (GatewaySimError) {
                // The verdict says what is known.
            }
        }
        $after = $this->call('GET', "/_sim/ipns/$ipn[id]");
        ['cause' => $cause, 'fix' => $fix] = (self::isDelivered($after) ? $ipn : $after)['verdict'];
        $class = 'PHPUnit\\Framework\\AssertionFailedError';
        $text = rtrim("$cause $fix");
        throw class_exists($class) ? new $class($text) : new GatewaySimError($text);
    }

    /** The newest payment. */
    public function newestPayment(): array
    {
        return $this->call('GET', '/_sim/payments?limit=1')['data'][0] ?? throw new GatewaySimError(
            'no payment was initiated. Call initiate(), or let your shop do it with visit().',
        );
    }

    /**
     * Initiates a payment through your shop.
     *
     * @param string $address of your shop that initiates a payment
     * @param array|null $fields posted as a form; null for a GET request
     * @return array the payment that it made
     */
    public function visit(string $address, ?array $fields = null): array
    {
        $before = $this->call('GET', '/_sim/payments?limit=1')['data'][0]['id'] ?? null;
        $http = ['method' => $fields === null ? 'GET' : 'POST', 'content' => http_build_query($fields ?? []),
            'header' => 'Content-Type: application/x-www-form-urlencoded', 'ignore_errors' => true, 'timeout' => 60, 'follow_location' => 0];
        $text = @file_get_contents($address, false, stream_context_create(['http' => $http]));
        $payment = $this->call('GET', '/_sim/payments?limit=1')['data'][0] ?? null;
        if ($payment && $payment['id'] !== $before) return $payment;
        $answer = $text === false ? 'did not respond' : 'returned ' . ($http_response_header[0] ?? '') . ' ' . substr($text, 0, 200);
        throw new GatewaySimError("$address made no payment: it $answer. Initiate with $this->initiateUrl.");
    }

    /** The signature of an IPN. The amount is the text of `data[amount]`, exactly as sent. */
    public function signIpn(string $amount, string $identifier): string
    {
        return strtoupper(hash_hmac('sha256', $amount . $identifier, $this->secretKey));
    }

    /** Advances the emulator's clock, for example by `'2h'`, and runs what falls due. */
    public function advance(string $duration): array
    {
        return $this->call('POST', '/_sim/clock', json_encode(['advance' => $duration]));
    }

    /** Removes all payments and IPNs, but keeps the keys. */
    public function reset(): void
    {
        $this->call('POST', '/_sim/reset', '{}');
    }

    /** The newest IPN of a payment, or the IPN with this id; null if there is none. */
    private function newestIpn(string $reference, bool $isGenuine = false): ?array
    {
        $is = fn ($ipn) => in_array($reference, [$ipn['id'], $ipn['identifier'], $ipn['paymentId']])
            && !($isGenuine && $ipn['tampered']);
        return current(array_filter($this->call('GET', '/_sim/ipns?limit=200')['data'], $is)) ?: null;
    }

    private static function isDelivered(array $ipn): bool
    {
        return $ipn['state'] === 'delivered' && in_array($ipn['verdict']['tone'], ['good', 'warning']);
    }

    private function withoutIpn(string $reference, ?array $ipn): GatewaySimError
    {
        if ($ipn) return new GatewaySimError($ipn['note'] ?? ($ipn['underWay'] ? $ipn['verdict']['cause']
            : "the IPN is due at $ipn[nextAttemptAt]. Call advance()."));
        $payments = $this->call('GET', '/_sim/payments?limit=5')['data'];
        $seen = array_map(fn ($one) => "payment $one[identifier] is $one[status]", $payments) ?: ['nothing was initiated'];
        return new GatewaySimError("there is no IPN for $reference: " . implode(', ', $seen) . '. Only approve() sends one.');
    }

    private function settle(string $reference, string $outcome): array
    {
        $path = '/_sim/payments/' . rawurlencode($reference) . '/settle';
        return $this->call('POST', $path, json_encode(['outcome' => $outcome, 'awaitDelivery' => true]));
    }

    private function call(string $method, string $path, string $body = ''): array
    {
        $http = ['method' => $method, 'content' => $body, 'ignore_errors' => true, 'timeout' => 300, 'follow_location' => 0, 'header' => [
            'Authorization: Bearer ' . ($this->environment['GATEWAY_SIM_CONTROL_TOKEN'] ?? ''),
            'Content-Type: application/' . (str_starts_with($body, '{') ? 'json' : 'x-www-form-urlencoded'),
        ]];
        $ssl = array_filter(['cafile' => $this->environment['GATEWAY_SIM_TLS_CA'] ?? '']);
        $text = @file_get_contents($this->url . $path, false, stream_context_create(['http' => $http, 'ssl' => $ssl]));
        if ($text === false) {
            throw new GatewaySimError("no response from $this->url. Start the emulator, or unset GATEWAY_SIM_URL.");
        }
        $answer = json_decode($text, true);
        if (is_array($answer) && !isset($answer['error'])) return $answer;
        $problems = $answer['errors'] ?? ["$method $this->url$path returned: " . substr($text, 0, 200)];
        throw new GatewaySimError(implode('; ', $problems) . '. ' . ($answer['remedy'] ?? 'Check the request.'));
    }

    private static function program(): array
    {
        $named = getenv('GATEWAY_SIM_BIN') ?: '';
        if (str_ends_with($named, '.js')) return ['node', $named];
        if ($named !== '') return is_file($named) ? [$named] : explode(' ', $named);
        for ($folder = __DIR__; $folder !== dirname($folder); $folder = dirname($folder)) {
            $file = "$folder/node_modules/gateway-sim/bin/gateway-sim.js";
            if (is_file($file)) return ['node', $file];
        }
        return ['gateway-sim'];
    }

    /** Starts a command that ends when its stdin closes, and waits until its output matches the pattern. */
    private static function spawn(array $command, array $env, string $pattern, ?array &$found, string $advice): array
    {
        $log = fopen($path = tempnam(sys_get_temp_dir(), 'gateway-sim-'), 'a+');
        @unlink($path);
        $process = @proc_open($command, [['pipe', 'r'], $log, $log], $pipes, null, $env);
        for ($end = microtime(true) + 20; $process && microtime(true) < $end; usleep(10_000)) {
            $isRunning = proc_get_status($process)['running'];
            $output = rewind($log) ? stream_get_contents($log) : '';
            if (preg_match($pattern, $output, $found)) return [$process, $pipes[0], $log];
            if (!$isRunning) break;
        }
        throw new GatewaySimError(implode(' ', array_slice($command, 0, 3)) . ' did not start: '
            . (trim($output ?? '') ?: "the program was not found. $advice"));
    }
}

final class GatewaySimError extends RuntimeException {}
