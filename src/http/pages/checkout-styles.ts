import { BASE, pack } from './styles.ts';

/*
 * Space comes in steps of 4 pixels: 4, 8, 12, 16, 24, 32, 40. Type in 12 (the emulator's own), 14 (asides), 16 (text),
 * 20 (heading of a step), and the amount. Everything that can be pressed is at least 44 pixels high.
 */
const CONTROLS = `
.button, .link, .step input { font: inherit; max-width: 100%; border-radius: 10px; }
.button {
  display: flex; align-items: center; justify-content: center; width: 100%; min-height: 52px; padding: 12px 16px;
  border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); font-weight: 600;
  text-align: center; text-decoration: none; cursor: pointer;
}
.button:hover { background: var(--accent-strong); border-color: var(--accent-strong); color: var(--on-accent); }
.button:active { transform: translateY(1px); }
.button.quiet {
  min-height: 44px; padding: 8px 12px; background: transparent; border-color: var(--line); color: var(--soft); font-weight: 500;
}
.button.quiet:hover { background: var(--tint); border-color: var(--edge); color: var(--ink); }
.link {
  min-height: 44px; border: 0; padding: 0; background: none; color: var(--accent); cursor: pointer; font-weight: 500;
  text-decoration: underline; text-underline-offset: 3px; white-space: nowrap;
}
.link:hover { color: var(--accent-strong); }
label { display: block; font-weight: 600; }
.step input:not([type='hidden']) {
  display: block; width: 100%; min-height: 52px; padding: 12px 16px; color: var(--ink); background: var(--card);
  border: 1px solid var(--edge);
}
.step input:focus { border-color: var(--focus); outline: 2px solid var(--focus); outline-offset: 0; }
.step input[aria-invalid] { border-color: var(--danger); }
.step input[aria-invalid]:focus { outline-offset: 2px; }
#code { font-size: 20px; font-variant-numeric: tabular-nums; letter-spacing: .2em; }
`;

const CHECKOUT = `
/* One column is what a phone sees: all up to the main button and Cancel stands in its first 740 pixels. */
body { gap: 16px; }
.checkout { max-width: 472px; }
.summary { padding: 16px 24px; background: var(--tint); border-bottom: 1px solid var(--line); }
/*
 * The image has no fixed width: with one, Chromium keeps the room of an image that did not load. The halo is for logos
 * that were drawn for the other theme, black on transparent or white on transparent.
 */
.logo {
  --height: 40px; float: right; width: 112px; max-width: 100%; height: var(--height); margin-left: 16px;
  overflow: hidden; line-height: 0; text-align: right;
}
.logo img {
  height: var(--height); max-width: 100%; object-fit: contain; object-position: right; vertical-align: top;
  filter: var(--halo);
}
.fallback { display: inline-block; width: 100%; vertical-align: top; }
.monogram {
  display: inline-flex; width: var(--height); height: var(--height); align-items: center; justify-content: center;
  vertical-align: top; border-radius: 12px; background: var(--wash); color: var(--accent); font-size: 20px;
  font-weight: 600; line-height: 1;
}
h1 { font-weight: inherit; font-size: inherit; }
.payee { display: flow-root; color: var(--soft); }
/* It stands beside the logo, or below where it is too long for that. */
.amount {
  display: flow-root; width: max-content; max-width: 100%; font-size: 32px; line-height: 1.2; font-weight: 700;
  letter-spacing: -.02em; font-variant-numeric: tabular-nums;
}
.amount.medium { font-size: clamp(24px, 8.6vw, 32px); }
.amount.long { font-size: 24px; letter-spacing: -.01em; text-wrap: balance; }
.facts {
  margin-top: 12px; display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 4px 16px; font-size: 14px;
}
.summary .facts { clear: both; }
.facts dt { color: var(--soft); }
.facts dd { text-align: left; }
.step {
  padding: 16px 24px 24px; display: grid; gap: 12px; align-content: start; grid-template-columns: minmax(0, 1fr);
}
.heading h2 { font-size: 20px; line-height: 1.4; font-weight: 650; }
.progress {
  display: flex; align-items: center; justify-content: space-between; gap: 16px; color: var(--soft); font-size: 14px;
}
.progress::after {
  content: ''; width: 72px; height: 6px; border-radius: 3px; border: 1px solid var(--accent);
  background: linear-gradient(var(--accent), var(--accent)) no-repeat 0 / 50%; forced-color-adjust: none;
}
.progress.code::after { background: var(--accent); }
.hint { color: var(--soft); font-size: 14px; margin-bottom: 8px; }
.hint code { font-weight: 600; color: var(--ink); }
.problem { margin-top: 8px; display: flex; gap: 8px; color: var(--danger); font-size: 14px; font-weight: 500; }
.problem::before {
  content: '!'; flex: none; width: 20px; height: 20px; border-radius: 50%; background: var(--danger); color: var(--card);
  font-weight: 700; line-height: 20px; text-align: center; forced-color-adjust: none;
}
.main > .button { margin-top: 16px; }
.notice, .sent { padding: 0 12px; border-radius: 10px; font-size: 14px; border: 1px solid transparent; }
.notice {
  background: var(--note); color: var(--on-note); display: flex; flex-wrap: wrap; align-items: center;
  justify-content: space-between; gap: 0 4px;
}
.notice p { padding: 8px 0; }
.fill, .fill:hover { color: inherit; }
.sent { padding-block: 8px; background: var(--wash); }
.payer {
  display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0 8px; font-size: 14px;
  border-block: 1px solid var(--line);
}
.payer p { flex: 0 1 auto; min-width: 0; padding: 8px 0; }
.payer span { display: block; color: var(--soft); }
.payer strong { font-weight: 500; }
.ways { display: flex; flex-wrap: wrap; gap: 8px; margin-top: -4px; }
.ways form { flex: 1 1 auto; }
.next { padding: 16px 24px 24px; background: var(--tint); border-top: 1px solid var(--line); color: var(--soft); font-size: 14px; }
.next h2 { font-size: 14px; font-weight: 600; color: var(--ink); }
.next ol { margin: 4px 0 0; padding-left: 20px; display: grid; gap: 4px; }
.next p { margin-top: 12px; }
.tag {
  display: inline-block; padding: 0 8px; border: 1px dashed var(--note-line); border-radius: 4px; font-weight: 600;
}
.tip { color: var(--on-note); font-size: 12px; font-family: var(--mono); line-height: 1.75; }
.tip a { color: inherit; display: inline-block; padding: 4px 0; margin: -4px 0; }
.tip code { font-weight: 600; }
.strip { width: 100%; max-width: 472px; padding: 8px 16px; border: 1px dashed var(--note-line); border-radius: 4px; }
/* A click takes the whole command, for pages without a script have no button that copies. */
.command { -webkit-user-select: all; user-select: all; }
.command, .command span { display: inline-block; max-width: 100%; }
@media (max-width: 859.98px) {
  .payer span, .notice p span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
}
@media (min-width: 860px) {
  body { gap: 32px; }
  .checkout { display: grid; grid-template: auto 1fr / 5fr 6fr; max-width: 928px; margin-top: 8px; }
  .summary, .step { padding: 40px; }
  .summary, .next { border: 0; border-right: 1px solid var(--line); }
  .summary { padding-bottom: 24px; }
  .step { grid-area: 1 / 2 / 3; gap: 16px; }
  .next { padding: 16px 40px 40px; align-content: end; }
  .logo { --height: 56px; float: none; width: 208px; margin: 0 0 24px; text-align: left; }
  .logo img { object-position: left; }
  .monogram { font-size: 24px; }
  .amount { font-size: 48px; }
  .amount.medium { font-size: 36px; }
  .amount.long { font-size: 28px; }
  .facts { margin-top: 24px; }
  .notice, .sent { padding: 12px 16px; }
  .notice { gap: 8px 12px; }
  .notice p { flex: 1 1 160px; padding: 0; }
  .notice p span { display: block; }
  .fill { padding: 8px 12px; border: 1px solid; font-weight: 600; text-decoration: none; }
  .fill:hover { background: var(--card); }
  .payer { padding: 8px 0; font-size: inherit; }
  .payer p { padding: 0; }
  .payer span { font-size: 14px; }
  .ways { margin-top: -8px; }
  .strip { max-width: 928px; }
}
`;

const CLOSED = `
.closed { max-width: 440px; padding: 32px 24px 24px; text-align: center; }
.closed h1 { margin: 16px 0 8px; font-size: 24px; line-height: 1.35; font-weight: 650; }
.closed > h1 + p, .closed .detail { color: var(--soft); text-wrap: balance; }
.closed .detail { margin-top: 16px; font-size: 14px; }
.receipt { margin-top: 24px; padding-top: 24px; border-top: 1px solid var(--line); }
.receipt .amount { width: auto; font-size: 32px; }
.receipt .amount.long { font-size: 24px; }
.receipt .facts { text-align: left; }
.receipt .facts dd { text-align: right; }
.closed .button { margin-top: 24px; }
.closed .step { padding: 24px 0 0; text-align: left; }
.closed > h1:first-child { margin-top: 0; }
.closed label { margin-bottom: 8px; }
.end {
  width: 56px; height: 56px; padding: 12px; border-radius: 50%; background: var(--tint); color: var(--soft);
  border: 1px solid var(--line); fill: none; stroke: currentcolor; stroke-width: 2.25; stroke-linecap: round; stroke-linejoin: round;
}
.end.succeeded { background: var(--wash); border-color: transparent; color: var(--accent); }
.end.failed { background: var(--danger-wash); border-color: transparent; color: var(--danger); }
@media (min-width: 860px) { .closed { margin-top: 48px; } }
`;

/** Styles of every checkout page, and of those that look like one. */
export const CHECKOUT_STYLES = pack(BASE + CONTROLS + CHECKOUT + CLOSED);
