<?php
// For PHP 8 or newer. Replace this with your own IPN handler, which answers 200 only to a genuine IPN.
$secretKey = getenv('GATEWAY_SIM_SECRET_KEY') ?: throw new Error('GATEWAY_SIM_SECRET_KEY is not set');
$data = is_array($_POST['data'] ?? null) ? $_POST['data'] : [];
$text = fn ($value) => is_string($value) ? $value : '';
$signed = $text($data['amount'] ?? '') . $text($_POST['identifier'] ?? '');
$expected = strtoupper(hash_hmac('sha256', $signed, $secretKey));
$isGenuine = hash_equals($expected, $text($_POST['signature'] ?? '')) && ($_POST['status'] ?? '') === 'success';
http_response_code($isGenuine ? 200 : 400);
