import BASE from './assets/base.css?text';
import CHECKOUT from './assets/checkout.css?text';
import DARK from './assets/dark.css?text';
import LIGHT from './assets/light.css?text';

/** The style sheet of every page. The later palette overrides the first: it is for `system` if the browser prefers dark. */
export const BASE_STYLES = `${LIGHT}@media (prefers-color-scheme: dark) {${DARK}}${BASE}`;

/** The first palette is for `dark`, whatever the browser prefers. */
export const CHECKOUT_STYLES = DARK + BASE_STYLES + CHECKOUT;
