<?php

/*
 * A shop whose orders are rows, in any database that PDO knows.
 *
 * DSN=<of PDO> LAYOUT=<plain|woocommerce|prestashop> FLAW=<|unsigned> php -S 127.0.0.1:<port> pdo-shop.php
 * `php pdo-shop.php` creates the tables. The layouts have the names and keys of the published schemas.
 * GATEWAY_SIM_INITIATE_URL, GATEWAY_SIM_PUBLIC_KEY and GATEWAY_SIM_SECRET_KEY name the emulator.
 */

declare(strict_types=1);
ini_set('display_errors', '0');

const TOTAL = '49.90';

function database(): PDO
{
    static $pdo = null;
    $pdo ??= new PDO((string) getenv('DSN'), getenv('DB_USER') ?: null, null, [
        PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
        PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC,
    ]);
    return $pdo;
}

function run(string $sql, mixed ...$values): PDOStatement
{
    $statement = database()->prepare($sql);
    $statement->execute($values);
    return $statement;
}

function answer(int $status, string $text = ''): never
{
    http_response_code($status);
    header('Content-Type: text/plain');
    exit($text);
}

function now(): string
{
    return gmdate('Y-m-d H:i:s');
}

/** An order of one layout: how it is placed, found and paid. */
interface Layout
{
    /** @return string[] */
    public function tables(string $auto): array;

    public function place(string $identifier, string $token): void;

    /** @return array{id: mixed, token: string}|false */
    public function find(string $identifier): array|false;

    /** Pays an order that is not paid yet. Only the first of several calls may win. */
    public function pay(mixed $id, string $trx): void;
}

final class Plain implements Layout
{
    public function tables(string $auto): array
    {
        return [
            "CREATE TABLE orders (id $auto, identifier VARCHAR(40), token VARCHAR(40), total DECIMAL(10,2), status VARCHAR(20), updated_at TIMESTAMP NULL)",
            "CREATE TABLE mails (id $auto, order_id BIGINT, recipient VARCHAR(60))",
            'CREATE TABLE stock (product VARCHAR(20) PRIMARY KEY, quantity BIGINT)',
            "INSERT INTO stock VALUES ('tea', 1000)",
        ];
    }

    public function place(string $identifier, string $token): void
    {
        $sql = "INSERT INTO orders (identifier, token, total, status, updated_at) VALUES (?, ?, ?, 'pending', ?)";
        run($sql, $identifier, $token, TOTAL, now());
    }

    public function find(string $identifier): array|false
    {
        return run('SELECT id, token FROM orders WHERE identifier = ?', $identifier)->fetch();
    }

    public function pay(mixed $id, string $trx): void
    {
        $sql = "UPDATE orders SET status = 'paid', updated_at = ? WHERE id = ? AND status = 'pending'";
        if (run($sql, now(), $id)->rowCount() === 0) {
            return;
        }
        run("INSERT INTO mails (order_id, recipient) VALUES (?, 'ann@example.com')", $id);
        run("UPDATE stock SET quantity = quantity - 1 WHERE product = 'tea'");
    }
}

final class WooCommerce implements Layout
{
    public function tables(string $auto): array
    {
        return [
            "CREATE TABLE wp_wc_orders (id $auto, status VARCHAR(20), currency VARCHAR(10), type VARCHAR(20), total_amount DECIMAL(26,8), billing_email VARCHAR(320), date_created_gmt TIMESTAMP NULL, date_updated_gmt TIMESTAMP NULL, transaction_id VARCHAR(100))",
            "CREATE TABLE wp_wc_orders_meta (id $auto, order_id BIGINT, meta_key VARCHAR(255), meta_value TEXT)",
            "CREATE TABLE wp_wc_order_operational_data (id $auto, order_id BIGINT, date_paid_gmt TIMESTAMP NULL, order_stock_reduced SMALLINT)",
            "CREATE TABLE wp_comments (comment_ID $auto, comment_post_ID BIGINT, comment_date TIMESTAMP NULL, comment_content TEXT, comment_type VARCHAR(20))",
            "CREATE TABLE wp_postmeta (meta_id $auto, post_id BIGINT, meta_key VARCHAR(255), meta_value TEXT)",
            "CREATE TABLE wp_options (option_id $auto, option_name VARCHAR(191), option_value TEXT)",
            "INSERT INTO wp_postmeta (post_id, meta_key, meta_value) VALUES (5, '_stock', '1000')",
            "INSERT INTO wp_options (option_name, option_value) VALUES ('cron', '0')",
        ];
    }

    public function place(string $identifier, string $token): void
    {
        $sql = "INSERT INTO wp_wc_orders (status, currency, type, total_amount, billing_email, date_created_gmt, date_updated_gmt) VALUES ('wc-pending', 'USD', 'shop_order', ?, 'ann@example.com', ?, ?)";
        run($sql, TOTAL, now(), now());
        $id = database()->lastInsertId();
        foreach (['_gateway_identifier' => $identifier, '_gateway_token' => $token] as $key => $value) {
            run('INSERT INTO wp_wc_orders_meta (order_id, meta_key, meta_value) VALUES (?, ?, ?)', $id, $key, $value);
        }
        run('INSERT INTO wp_wc_order_operational_data (order_id, order_stock_reduced) VALUES (?, 0)', $id);
    }

    public function find(string $identifier): array|false
    {
        $sql = "SELECT one.order_id AS id, other.meta_value AS token FROM wp_wc_orders_meta one JOIN wp_wc_orders_meta other ON other.order_id = one.order_id AND other.meta_key = '_gateway_token' WHERE one.meta_key = '_gateway_identifier' AND one.meta_value = ?";
        return run($sql, $identifier)->fetch();
    }

    public function pay(mixed $id, string $trx): void
    {
        $sql = "UPDATE wp_wc_orders SET status = 'wc-processing', date_updated_gmt = ?, transaction_id = ? WHERE id = ? AND status = 'wc-pending'";
        if (run($sql, now(), $trx, $id)->rowCount() === 0) {
            return;
        }
        run('UPDATE wp_wc_order_operational_data SET date_paid_gmt = ?, order_stock_reduced = 1 WHERE order_id = ?', now(), $id);
        foreach (['Stock levels reduced: Tea', 'Order status changed from Pending payment to Processing.'] as $note) {
            run("INSERT INTO wp_comments (comment_post_ID, comment_date, comment_content, comment_type) VALUES (?, ?, ?, 'order_note')", $id, now(), $note);
        }
        run("UPDATE wp_postmeta SET meta_value = meta_value - 1 WHERE post_id = 5 AND meta_key = '_stock'");
    }
}

/** The order itself is only created when its cart is paid. */
final class PrestaShop implements Layout
{
    public function tables(string $auto): array
    {
        return [
            "CREATE TABLE ps_cart (id_cart $auto, id_customer BIGINT, secure_key VARCHAR(40), date_add TIMESTAMP NULL, date_upd TIMESTAMP NULL)",
            "CREATE TABLE ps_gateway_payment (id_gateway_payment $auto, id_cart BIGINT, identifier VARCHAR(40))",
            "CREATE TABLE ps_orders (id_order $auto, reference VARCHAR(9), id_cart BIGINT UNIQUE, current_state BIGINT, total_paid DECIMAL(20,6), valid SMALLINT, date_add TIMESTAMP NULL)",
            "CREATE TABLE ps_order_history (id_order_history $auto, id_order BIGINT, id_order_state BIGINT, date_add TIMESTAMP NULL)",
            "CREATE TABLE ps_order_payment (id_order_payment $auto, order_reference VARCHAR(9), amount DECIMAL(20,6), transaction_id VARCHAR(254))",
            "CREATE TABLE ps_stock_available (id_stock_available $auto, id_product BIGINT, quantity BIGINT)",
            'INSERT INTO ps_stock_available (id_product, quantity) VALUES (1, 1000)',
        ];
    }

    public function place(string $identifier, string $token): void
    {
        run('INSERT INTO ps_cart (id_customer, secure_key, date_add, date_upd) VALUES (7, ?, ?, ?)', $token, now(), now());
        $cart = database()->lastInsertId();
        run('INSERT INTO ps_gateway_payment (id_cart, identifier) VALUES (?, ?)', $cart, $identifier);
    }

    public function find(string $identifier): array|false
    {
        $sql = 'SELECT c.id_cart AS id, c.secure_key AS token FROM ps_cart c JOIN ps_gateway_payment p ON p.id_cart = c.id_cart WHERE p.identifier = ?';
        return run($sql, $identifier)->fetch();
    }

    public function pay(mixed $id, string $trx): void
    {
        database()->beginTransaction();
        try {
            $reference = strtoupper(substr(md5((string) $id), 0, 9));
            $sql = 'INSERT INTO ps_orders (reference, id_cart, current_state, total_paid, valid, date_add) VALUES (?, ?, 2, ?, 1, ?)';
            run($sql, $reference, $id, TOTAL, now());
            run('INSERT INTO ps_order_history (id_order, id_order_state, date_add) VALUES (?, 2, ?)', database()->lastInsertId(), now());
            run('INSERT INTO ps_order_payment (order_reference, amount, transaction_id) VALUES (?, ?, ?)', $reference, TOTAL, $trx);
            run('UPDATE ps_stock_available SET quantity = quantity - 1 WHERE id_product = 1');
            database()->commit();
        } catch (PDOException) {
            // The cart has an order already.
            database()->rollBack();
        }
    }
}

$layout = match (getenv('LAYOUT')) {
    'woocommerce' => new WooCommerce(),
    'prestashop' => new PrestaShop(),
    default => new Plain(),
};

if (PHP_SAPI === 'cli') {
    $auto = match (database()->getAttribute(PDO::ATTR_DRIVER_NAME)) {
        'mysql' => 'BIGINT AUTO_INCREMENT PRIMARY KEY',
        'pgsql' => 'BIGSERIAL PRIMARY KEY',
        default => 'INTEGER PRIMARY KEY AUTOINCREMENT',
    };
    array_map(fn (string $sql) => database()->exec($sql), $layout->tables($auto));
    exit(0);
}

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
$base = 'http://' . $_SERVER['HTTP_HOST'];
if ($path === '/order') {
    [$identifier, $token] = [bin2hex(random_bytes(8)), bin2hex(random_bytes(16))];
    $layout->place($identifier, $token);
    $fields = [
        'public_key' => getenv('GATEWAY_SIM_PUBLIC_KEY'), 'identifier' => $identifier, 'currency' => 'USD', 'amount' => TOTAL,
        'details' => 'Tea', 'ipn_url' => "$base/ipn?token=$token", 'success_url' => "$base/thanks", 'cancel_url' => "$base/",
        'site_logo' => "$base/logo.png", 'customer_name' => 'Ann', 'customer_email' => 'ann@example.com',
    ];
    $http = ['method' => 'POST', 'header' => 'Content-Type: application/x-www-form-urlencoded', 'content' => http_build_query($fields)];
    file_get_contents((string) getenv('GATEWAY_SIM_INITIATE_URL'), false, stream_context_create(['http' => $http]));
    answer(200, 'ordered');
}
if ($path !== '/ipn' || $_SERVER['REQUEST_METHOD'] !== 'POST') {
    answer(200, 'hello');
}
[$data, $identifier, $signature] = [$_POST['data'] ?? null, $_POST['identifier'] ?? null, $_POST['signature'] ?? null];
$amount = is_array($data) ? ($data['amount'] ?? null) : null;
if (!is_string($amount) || !is_string($identifier) || !is_string($signature) || strlen($identifier) > 40) {
    answer(400, 'incomplete');
}
$expected = strtoupper(hash_hmac('sha256', $amount . $identifier, (string) getenv('GATEWAY_SIM_SECRET_KEY')));
if (getenv('FLAW') !== 'unsigned' && !hash_equals($expected, $signature)) {
    answer(401, 'rejected');
}
$order = mb_check_encoding($identifier, 'UTF-8') ? $layout->find($identifier) : false;
$token = $_GET['token'] ?? null;
$isWhole = is_string($data['currency']['code'] ?? null) && is_string($data['payment_trx'] ?? null);
if (!$order || !is_string($token) || !hash_equals($order['token'], $token) || !$isWhole) {
    answer(404, 'rejected');
}
if ($amount !== TOTAL || $data['currency']['code'] !== 'USD' || ($_POST['status'] ?? null) !== 'success') {
    answer(400, 'rejected');
}
$layout->pay($order['id'], $data['payment_trx']);
answer(200, 'OK');
