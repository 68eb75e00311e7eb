/*
 * The one script of the dashboard. Pages are whole without it; it makes them live: events come from the server, the
 * page is fetched again at most twice a second, and what changed in it is changed in place. Forms are sent the same
 * way.
 */
import { startCopying } from './copy.ts';
import { connect } from './events.ts';
import './filter.ts';
import './keyboard.ts';
import './language.ts';
import { main, news } from './shown-page.ts';
import './submit.ts';
import './times.ts';

// On a small screen the tabs scroll sideways: the one that is open is in sight.
const tab = document.querySelector<HTMLElement>('.tabs [aria-current]');
const tabs = tab?.closest('.tabs');
if (tab && tabs) tabs.scrollLeft = tab.offsetLeft - 60;

// After a form was refused the address is that of its action: reloading must not send it again.
if (main.dataset['page']) history.replaceState(null, '', main.dataset['page']);
startCopying((text) => {
  news.textContent = text;
});
connect();
