<?php
// Initiates payments and verifies their IPNs, with PHP 8 or newer. Ship this file with your shop.
// An order has identifier, token, amount and currency, as text.

/** An order, to be stored before its payment is initiated. Forged IPNs cannot guess the token. */
function newOrder(string $amount, string $currency): array
{
    [$identifier, $token] = [bin2hex(random_bytes(10)), bin2hex(random_bytes(16))];
    return ['identifier' => $identifier, 'token' => $token, 'amount' => $amount, 'currency' => $currency];
}

/** Initiates the payment of an order. Returns the URL where the customer pays. $shop is your own address. */
function initiate(array $order, string $shop, array $fields): string
{
    $fields += [
        'public_key' => variable('GATEWAY_SIM_PUBLIC_KEY'),
        'identifier' => $order['identifier'],
        'amount' => $order['amount'],
        'currency' => $order['currency'],
        'ipn_url' => "$shop/ipn?token=$order[token]",
        'success_url' => "$shop/orders/$order[identifier]",
        'cancel_url' => $shop,
        'site_logo' => "$shop/logo.png",
    ];
    $request = ['method' => 'POST', 'content' => http_build_query($fields), 'ignore_errors' => true];
    $request['header'] = 'Content-Type: application/x-www-form-urlencoded';
    $context = stream_context_create(['http' => $request]);
    $answer = json_decode(file_get_contents(variable('GATEWAY_SIM_INITIATE_URL'), false, $context), true);
    return $answer['url'] ?? throw new Error('The payment was not initiated: ' . ($answer['message'] ?? 'no answer'));
}

/** Whether this request is an IPN that pays the order. There may be no order. */
function isPaid(array|false|null $order): bool
{
    return $order && isGenuine()
        && field('identifier') === $order['identifier']
        && hash_equals($order['token'], (string) filter_input(INPUT_GET, 'token'))
        && (float) field('data', 'amount') === (float) $order['amount']
        && field('data', 'currency', 'code') === $order['currency'];
}

/** Whether the gateway signed this IPN of a successful payment. It may belong to another order, or to none. */
function isGenuine(): bool
{
    $signed = field('data', 'amount') . field('identifier');
    $expected = strtoupper(hash_hmac('sha256', $signed, variable('GATEWAY_SIM_SECRET_KEY')));
    return hash_equals($expected, field('signature')) && field('status') === 'success';
}

/** The text of a field of the form, such as data[amount]; '' if there is none. */
function field(string ...$names): string
{
    $value = $_POST;
    foreach ($names as $name) $value = is_array($value) ? $value[$name] ?? '' : '';
    return is_string($value) ? $value : '';
}

function variable(string $name): string
{
    return getenv($name) ?: throw new Error(
        "$name is not set: run your program with `npx gateway-sim exec -- <command>`, or set it",
    );
}

// The first test serves this file. Serve your own handler there instead.
if (PHP_SAPI !== 'cli' && get_included_files()[0] === __FILE__) http_response_code(isGenuine() ? 200 : 400);
