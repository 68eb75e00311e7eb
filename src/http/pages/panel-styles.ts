import { pack } from './styles.ts';

/** Styles of the simulator panel. They come after those of the checkout, and only where there is a panel. */
export const PANEL_STYLES = pack(`
.panel {
  width: 100%; max-width: 472px; border: 1px dashed var(--note-line); border-radius: 4px;
  color: var(--on-note); font-size: 12px; font-family: var(--mono);
}
.panel summary { min-height: 44px; padding: 12px 16px; cursor: pointer; }
.panel .tip { padding: 0 16px 8px; }
.panel form { display: grid; gap: 16px; padding: 4px 16px 16px; }
.panel label, .panel legend { font-weight: 400; padding: 0; margin-bottom: 4px; }
.panel fieldset { border: 0; margin: 0; padding: 0; min-width: 0; }
.panel select, .panel button {
  font: inherit; width: 100%; max-width: 100%; min-height: 44px; padding: 8px 12px; border: 1px solid var(--note-line);
  border-radius: 4px; background: var(--note); color: var(--on-note);
}
.panel button { cursor: pointer; }
.panel button:hover { border-color: var(--on-note); text-decoration: underline; }
.outcomes { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 8px; }
@media (min-width: 600px) {
  .outcomes { grid-template-columns: repeat(4, minmax(0, 1fr)); }
}
@media (min-width: 860px) {
  .panel { max-width: 928px; }
  .panel form { grid-template-columns: minmax(0, 5fr) minmax(0, 6fr); gap: 32px; }
}
`);
