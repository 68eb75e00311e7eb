<?php

use PHPUnit\Framework\TestCase;

require_once __DIR__ . '/GatewaySim.php';

final class GatewaySimTest extends TestCase
{
    public function testAPaymentReachesTheShop(): void
    {
        $sim = GatewaySim::start();
        // Replace payments.php with your own handler, or with public/index.php and the path that receives the IPN.
        $order = $sim->initiate(['amount' => '49.90', 'ipn_url' => $sim->serve(__DIR__ . '/payments.php')]);
        $sim->approve($order['identifier']);
        $sim->assertDelivered($order);
        $this->assertSame('49.90', $sim->waitForIpn($order['identifier'])['data']['amount']);
    }
}
