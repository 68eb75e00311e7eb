/*
 * The dashboard's only script. Pages work without it. It keeps them up to date: after events from the server it fetches
 * the page again, at most twice a second, and updates the changed elements in place. It also sends forms.
 */
import { startCopying } from './copy.ts';
import { connect } from './events.ts';
import './filter.ts';
import './keyboard.ts';
import './language.ts';
import { main, news } from './shown-page.ts';
import './submit.ts';
import './times.ts';

// On a small screen the tabs scroll sideways. Scroll to the current one.
const tab = document.querySelector<HTMLElement>('.tabs [aria-current]');
const tabs = tab?.closest('.tabs');
if (tab && tabs) tabs.scrollLeft = tab.offsetLeft - 60;

// After a rejected form, the URL is the form's action. A reload must not submit the form again.
if (main.dataset['page']) history.replaceState(null, '', main.dataset['page']);
startCopying((text) => {
  news.textContent = text;
});
connect();
