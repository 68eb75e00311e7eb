<?php

/*
 * A shop in PHP: correct, or with one flaw of a class of `gateway-sim audit`.
 *
 * SHOP_FLAW=<class> SHOP_FOLDER=<an empty folder> PHP_CLI_SERVER_WORKERS=8 php -S 127.0.0.1:<port> shop.php
 * An empty class means no flaw. The code of a fix is inserted at the line `// fix: <place>`.
 * GATEWAY_SIM_INITIATE_URL, GATEWAY_SIM_PUBLIC_KEY and GATEWAY_SIM_SECRET_KEY name the emulator.
 */

declare(strict_types=1);
ini_set('display_errors', '0');

const TOTAL = '49.90';
const CURRENCY = 'USD';
define('FLAW', (string) getenv('SHOP_FLAW'));
define('FOLDER', (string) getenv('SHOP_FOLDER'));
define('PUBLIC_KEY', (string) getenv('GATEWAY_SIM_PUBLIC_KEY'));
define('SECRET_KEY', (string) getenv('GATEWAY_SIM_SECRET_KEY'));

function sign(string $amount, string $identifier, string $secret = SECRET_KEY): string
{
    return strtoupper(hash_hmac('sha256', $amount . $identifier, $secret));
}

function answer(int $status, string $text = ''): never
{
    http_response_code($status);
    header('Content-Type: text/plain');
    exit($text);
}

/** Identifiers are untrusted: none of their characters reach the file system. */
function fileOf(string $identifier): string
{
    return FOLDER . '/' . bin2hex($identifier) . '.json';
}

function find_order(string $identifier): ?array
{
    $file = fileOf($identifier);
    if (strlen($identifier) > 60 || !is_file($file)) {
        return null;
    }
    $open = fopen($file, 'r');
    flock($open, LOCK_SH);
    $order = json_decode((string) stream_get_contents($open), true);
    fclose($open);
    return $order;
}

/** Changes an order under a lock. */
function change(string $identifier, callable $change): void
{
    $file = fopen(fileOf($identifier), 'r+');
    if (FLAW !== 'once') {
        flock($file, LOCK_EX);
    }
    $order = json_decode((string) stream_get_contents($file), true);
    if (FLAW === 'once') {
        usleep(30000);
    }
    $changed = json_encode($change($order));
    rewind($file);
    ftruncate($file, 0);
    fwrite($file, $changed);
    fclose($file);
}

function pay(string $identifier): void
{
    change($identifier, function (array $order): array {
        if ($order['status'] !== 'paid' || FLAW === 'once') {
            $order['status'] = 'paid';
            $order['effects']++;
        }
        return $order;
    });
}

function place(string $base): void
{
    $identifier = FLAW === 'splice' ? 'S-' . count(glob(FOLDER . '/*.json')) : bin2hex(random_bytes(10));
    $token = bin2hex(random_bytes(16));
    $order = [
        'identifier' => $identifier, 'total' => TOTAL, 'currency' => CURRENCY, 'token' => $token,
        'status' => 'pending', 'effects' => 0,
    ];
    $ipnUrl = "$base/ipn?token=$token&order=$identifier";
    $fields = [
        'public_key' => PUBLIC_KEY, 'identifier' => $identifier, 'currency' => CURRENCY, 'amount' => TOTAL,
        'details' => 'Two paperbacks', 'ipn_url' => $ipnUrl, 'cancel_url' => "$base/cart",
        'success_url' => FLAW === 'M' ? $ipnUrl : "$base/thanks?order=$identifier",
        'site_logo' => "$base/logo.png", 'customer_name' => 'Ada', 'customer_email' => 'ada@example.com',
    ];
    // fix: initiate
    file_put_contents(fileOf($identifier), json_encode($order));
    $http = [
        'method' => 'POST',
        'header' => 'Content-Type: application/x-www-form-urlencoded',
        'content' => http_build_query($fields),
    ];
    $answer = file_get_contents((string) getenv('GATEWAY_SIM_INITIATE_URL'), false, stream_context_create(['http' => $http]));
    if ((json_decode((string) $answer, true)['success'] ?? '') !== 'ok') {
        answer(502, 'the order was refused');
    }
}

function isSigned(string $amount, string $identifier, string $signature, string $status): bool
{
    if (FLAW === 'A') {
        return true;
    }
    if (FLAW === 'B' && ($signature === '' || $signature === 'null')) {
        return true;
    }
    if (FLAW === 'C' && $signature === sign($amount, $identifier, '')) {
        return true;
    }
    if (FLAW === 'H' && $status !== 'success') {
        return true;
    }
    if (FLAW === 'I' && ($_SERVER['HTTP_X_FORWARDED_FOR'] ?? '') === '127.0.0.1') {
        return true;
    }
    if (FLAW === 'J' && $signature == '0') {
        return true;
    }
    return hash_equals(sign($amount, $identifier), $signature);
}

function text(mixed $value): string
{
    return is_string($value) ? $value : '';
}

function handle(): never
{
    $secretKey = SECRET_KEY;
    // fix: first
    $data = is_array($_POST['data'] ?? null) ? $_POST['data'] : [];
    $currency = text(is_array($data['currency'] ?? null) ? ($data['currency']['code'] ?? null) : null);
    $amount = text($data['amount'] ?? null);
    [$status, $signature, $identifier] = array_map(
        fn (string $name): string => text($_POST[$name] ?? null),
        ['status', 'signature', 'identifier'],
    );
    $needed = in_array(FLAW, ['A', 'B', 'H'], true)
        ? [$identifier, $amount]
        : [$status, $signature, $identifier, $amount, $currency];
    if (in_array('', $needed, true) || !isSigned($amount, $identifier, $signature, $status)) {
        // fix: refuse
        answer(400, FLAW === 'L' ? sign($amount, $identifier) : 'rejected');
    }
    if (FLAW === 'K' && str_contains($identifier, "'")) {
        answer(500, 'You have an error in your SQL syntax');
    }
    $order = find_order(FLAW === 'E' ? text($_GET['order'] ?? null) : $identifier);
    // fix: order
    if ($order === null) {
        answer(404, 'rejected');
    }
    $needsToken = !in_array(FLAW, ['G', 'splice'], true);
    if ($needsToken && !hash_equals($order['token'], text($_GET['token'] ?? null))) {
        answer(404, 'rejected');
    }
    if ($status !== 'success' && FLAW !== 'robustness') {
        if (FLAW === 'H') {
            change($order['identifier'], fn (array $changed): array => ['status' => 'failed'] + $changed);
        }
        answer(200, 'noted');
    }
    if (FLAW !== 'D' && ($amount !== TOTAL || $currency !== CURRENCY)) {
        answer(400, 'rejected');
    }
    pay($order['identifier']);
    answer(200, 'OK');
}

$base = 'http://' . $_SERVER['HTTP_HOST'];
$path = (string) parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
$isPost = $_SERVER['REQUEST_METHOD'] === 'POST';
if (str_starts_with($path, '/orders/')) {
    $order = find_order(rawurldecode(substr($path, strlen('/orders/')))) ?? ['status' => 'unknown'];
    unset($order['token']);
    answer(200, json_encode($order));
}
if ($path === '/order' && $isPost) {
    place($base);
    answer(200, 'ordered');
}
if ($path === '/thanks') {
    $order = find_order(text($_GET['order'] ?? null));
    // fix: return
    if (FLAW === 'F' && $order !== null) {
        pay($order['identifier']);
    }
    answer(200, 'thank you');
}
if ($path !== '/ipn') {
    answer(404);
}
if (!$isPost) {
    answer(405);
}
handle();
