<?php

use PHPUnit\Framework\TestCase;

require_once __DIR__ . '/GatewaySim.php';

final class GatewaySimTest extends TestCase
{
    public function testAPaymentReachesTheShop(): void
    {
        $sim = GatewaySim::start();
        // Put your own handler in the place of ipn.php, or public/index.php and the path that takes the IPN.
        $order = $sim->initiate(['amount' => '49.90', 'ipn_url' => $sim->serve(__DIR__ . '/ipn.php')]);
        $paid = $sim->approve($order['identifier']);
        $this->assertSame('delivered', $paid['delivery']['state']);
        $this->assertSame('49.90', $sim->waitForIpn($order['identifier'])['data']['amount']);
    }
}
