<?php
// Stands for your own handler of the IPN: it has the secret key, and answers 200 only to what it believes.
$data = is_array($_POST['data'] ?? null) ? $_POST['data'] : [];
$text = fn ($value) => is_string($value) ? $value : '';
$signed = $text($data['amount'] ?? '') . $text($_POST['identifier'] ?? '');
$expected = strtoupper(hash_hmac('sha256', $signed, getenv('GATEWAY_SIM_SECRET_KEY')));
$isGenuine = hash_equals($expected, $text($_POST['signature'] ?? '')) && ($_POST['status'] ?? '') === 'success';
http_response_code($isGenuine ? 200 : 400);
