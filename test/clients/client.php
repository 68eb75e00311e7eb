<?php
// A shop with a hard-coded gateway host, like published clients. Run by php -S: GET /place places one
// order and prints how it reads the response; every POST counts as the IPN, and GET /paid returns the result.
// ENCODING, JUDGE, READ_ERROR and RECEIVE choose its habits.
const GATEWAY = 'https://pay.example.com';
const SHOP = 'https://shop.example';
const ORDER = '1001';
$total = getenv('TOTAL');
$kept = getenv('SHOP_FOLDER') . '/paid.json';

function place(string $total): array
{
    $fields = [
        'public_key' => getenv('PUBLIC_KEY'), 'identifier' => ORDER, 'currency' => 'USD', 'amount' => $total,
        'details' => 'Order 1001', 'ipn_url' => SHOP . '/ipn?order=' . ORDER . '&from=gateway',
        'success_url' => SHOP . '/thanks?order=' . ORDER, 'cancel_url' => SHOP . '/cart',
        'site_logo' => SHOP . '/logo.png', 'customer_name' => 'Ada', 'customer_email' => 'ada@example.com',
    ];
    $curl = curl_init(GATEWAY . '/sandbox/payment/initiate');
    // An array is sent as multipart, text as a form.
    $body = getenv('ENCODING') === 'multipart' ? $fields : http_build_query($fields);
    curl_setopt_array($curl, [CURLOPT_POST => true, CURLOPT_POSTFIELDS => $body, CURLOPT_RETURNTRANSFER => true]);
    $text = curl_exec($curl);
    if ($text === false) return ['refused' => curl_error($curl)];
    $answer = json_decode($text);
    $accepted = match (getenv('JUDGE')) {
        'success-ok' => isset($answer->success) && $answer->success === 'ok',
        'success-loose' => ($answer->success ?? '') == 'ok',
        'success-present' => isset($answer->success),
        'url-alone' => !empty($answer->url),
        'error-truthy' => empty($answer->error),
    };
    if ($accepted) return ['redirect' => $answer->url];
    $reason = getenv('READ_ERROR') === 'errors-first' && !empty($answer->errors)
        ? implode('; ', $answer->errors) : $answer->message;
    return ['refused' => $reason];
}

if ($_SERVER['REQUEST_METHOD'] === 'POST') {
    $ipn = getenv('RECEIVE') === 'request' ? $_REQUEST : $_POST;
    $expected = strtoupper(hash_hmac('sha256', $ipn['data']['amount'] . $ipn['identifier'], getenv('SECRET_KEY')));
    $paid = hash_equals($expected, $ipn['signature']) && $ipn['status'] === 'success'
        && $ipn['identifier'] === ORDER && is_same_amount($ipn['data']['amount'], $total)
        && $ipn['data']['currency']['code'] === 'USD' && ($_GET['from'] ?? '') === 'gateway';
    file_put_contents($kept, json_encode(['paid' => $paid, 'host' => $_SERVER['HTTP_HOST']]));
    http_response_code($paid ? 200 : 400);
    return;
}

function is_same_amount(string $one, string $other): bool
{
    return abs((float) $one - (float) $other) < 0.005;
}

header('Content-Type: application/json');
if ($_SERVER['REQUEST_URI'] === '/place') echo json_encode(place($total));
elseif ($_SERVER['REQUEST_URI'] === '/paid') echo is_file($kept) ? file_get_contents($kept) : 'null';
