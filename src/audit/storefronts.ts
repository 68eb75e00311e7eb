/*
 * How the storefronts of known shops place an order as a guest does, with curl: session, cart, address, payment method.
 * Each command prints the cookies of its session, as Set-Cookie headers.
 */

const SESSION = `J=$(mktemp); H=$(mktemp); trap 'rm -f $J $H' EXIT
c() ( curl -s -b $J -c $J "$@" )`;
const PRINT_COOKIES = `awk -F '\\t' 'NF == 7 { print "Set-Cookie: " $6 "=" $7 }' $J`;

/**
 * Orders the first product of PrestaShop's home page, and opens the page of the module that initiates the payment.
 *
 * @param base the address of the shop, without a slash at its end
 * @param module the name of the payment module
 */
export const prestashopOrder = (base: string, module: string): string => `B=${quoted(base)}
${SESSION}
token() ( grep -o 'name="token" value="[0-9a-f]*"' $H | head -n 1 | cut -d '"' -f 4 )
c -L "$B/index.php" > $H
P=$(grep -o 'data-id-product="[0-9]*"' $H | head -n 1 | cut -d '"' -f 2)
c -L "$B/index.php?controller=product&id_product=$P" > $H
c "$B/index.php?controller=cart" -d "token=$(token)&id_product=$P&id_customization=0&qty=1&add=1&action=update&ajax=1" > /dev/null
c -L "$B/index.php?controller=order" -d "id_gender=1&firstname=Ada&lastname=Buyer&email=ada$$$(date +%s)@example.com&password=&psgdpr=1&customer_privacy=1&submitCreate=1&continue=1" > $H
C=$(tr '\\n' ' ' < $H | sed 's/.*name="id_country"//' | grep -o 'value="[0-9]*"[^>]*selected' | head -n 1 | cut -d '"' -f 2)
c -L "$B/index.php?controller=order&id_address=0" -d "token=$(token)&firstname=Ada&lastname=Buyer&address1=1+Street&city=Paris&postcode=75001&id_country=$C&phone=5551234&saveAddress=delivery&use_same_address=1&submitAddress=1&confirm-addresses=1" > $H
D=$(grep -o 'delivery_option\\[[0-9]*\\]' $H | head -n 1)
V=$(tr '\\n' ' ' < $H | grep -o 'name="delivery_option[^>]*value="[0-9,]*"' | head -n 1 | sed 's/.*value="//; s/"//')
c -L "$B/index.php?controller=order" --data-urlencode "$D=$V" -d 'delivery_message=&confirmDeliveryOption=1' > $H
U=$(grep -o 'action="[^"]*"' $H | cut -d '"' -f 2 | sed 's/&amp;/\\&/g' | grep -F ${quoted(module)} | head -n 1)
c -X POST "$U" > /dev/null
${PRINT_COOKIES}`;

/**
 * Orders the first product of OpenCart's home page that needs no choice, and confirms it as the page of the payment method does.
 *
 * @param base the address of the shop, without a slash at its end
 * @param code the code of the payment method
 */
export const opencartOrder = (base: string, code: string): string => `B=${quoted(base)}
${SESSION}
c "$B/" > $H
for P in $(grep -o "cart.add('[0-9]*'" $H | cut -d "'" -f 2); do
c "$B/index.php?route=checkout/cart/add" -d "product_id=$P&quantity=1" | grep -q '"success"' && break
done
c "$B/index.php?route=checkout/checkout" > /dev/null
c "$B/index.php?route=checkout/guest" > $H
C=$(tr '\\n' ' ' < $H | sed 's/.*name="country_id"//' | grep -o 'value="[0-9]*"[^>]*selected' | head -n 1 | cut -d '"' -f 2)
Z=$(c "$B/index.php?route=checkout/checkout/country&country_id=$C" | grep -o '"zone_id":"[0-9]*"' | head -n 1 | cut -d '"' -f 4)
c "$B/index.php?route=checkout/guest/save" -d "account=guest&customer_group_id=1&firstname=Ada&lastname=Buyer&email=ada@example.com&telephone=5551234&address_1=1+Street&city=London&postcode=N1+1AA&country_id=$C&zone_id=$Z&shipping_address=1" > /dev/null
c "$B/index.php?route=checkout/shipping_method" > $H
S=$(grep -o 'name="shipping_method" value="[^"]*"' $H | head -n 1 | cut -d '"' -f 4)
c "$B/index.php?route=checkout/shipping_method/save" -d "shipping_method=$S&comment=" > /dev/null
c "$B/index.php?route=checkout/payment_method" > /dev/null
c "$B/index.php?route=checkout/payment_method/save" -d payment_method=${quoted(code)} -d 'comment=&agree=1' > /dev/null
c "$B/index.php?route=checkout/confirm" > $H
U=$(grep -o "index.php?route=extension/payment/[^'\\"]*" $H | sed 's/&amp;/\\&/g' | head -n 1)
c "$B/$U" > /dev/null
${PRINT_COOKIES}`;

/** A text for a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
