from gateway_sim import gateway_sim  # the fixture
from payments import create_app  # replace this with your own application


def test_a_payment_reaches_the_shop(gateway_sim):
    shop = gateway_sim.serve(create_app(gateway_sim.secret_key))
    order = gateway_sim.initiate(amount="49.90", ipn_url=f"{shop}/ipn")
    gateway_sim.approve(order["identifier"])
    gateway_sim.assert_delivered(order)
    assert gateway_sim.wait_for_ipn(order["identifier"])["data[amount]"] == "49.90"
