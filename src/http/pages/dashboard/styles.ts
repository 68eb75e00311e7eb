import { BASE, pack } from '../styles.ts';

const DASHBOARD = `
.frame { width: 100%; max-width: 1180px; display: grid; gap: 20px; grid-template-columns: minmax(0, 1fr); }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 16px; top: 40px; background: var(--card); padding: 8px 12px; z-index: 2; }
.top { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 4px 16px; align-items: baseline; }
.top .name { font-size: 15px; color: var(--soft); }
.top .name strong { color: var(--ink); font-size: 17px; }
.where { margin-left: 12px; }
.mark { font-weight: 600; letter-spacing: .04em; text-transform: uppercase; }
.live { font-size: 13px; color: var(--soft); white-space: nowrap; }
.live::before { content: ''; display: inline-block; width: 9px; height: 9px; margin-right: 6px; border-radius: 50%; background: var(--edge); }
.live:empty::before { display: none; }
.live.on::before { background: var(--accent); }
.live.off { color: var(--danger); } .live.off::before { background: var(--danger); }
.tabs { grid-column: 1 / -1; border-bottom: 1px solid var(--line); min-width: 0; }
.tabs ul { position: relative; list-style: none; display: flex; flex-wrap: wrap; gap: 0 4px; }
.tabs a { display: inline-flex; align-items: center; min-height: 44px; padding: 0 12px; color: var(--soft); text-decoration: none; border-bottom: 3px solid transparent; margin-bottom: -1px; }
.tabs a:hover { color: var(--ink); }
.tabs a[aria-current] { color: var(--ink); border-bottom-color: var(--accent); }
main { display: grid; gap: 20px; min-width: 0; grid-template-columns: minmax(0, 1fr); outline: 0; }
#trouble { display: grid; gap: 8px; } #trouble:empty { display: none; }
h1 { font-size: 24px; line-height: 1.25; font-weight: 650; min-width: 0; }
h1 + .soft { margin-top: -14px; }
h2 { font-size: 17px; line-height: 1.4; font-weight: 650; }
h3 { font-size: 15px; font-weight: 600; }
.heading { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 16px; }
.heading .back { margin-left: auto; padding: 4px 0; }
.sum { font-size: 18px; font-variant-numeric: tabular-nums; }
.soft { color: var(--soft); font-size: 14px; }
.columns { display: grid; gap: 20px; grid-template-columns: minmax(0, 1fr); align-items: start; }
.stack { display: grid; gap: 20px; grid-template-columns: minmax(0, 1fr); }
.box { min-width: 0; padding: 18px 20px; background: var(--card); border: 1px solid var(--line); border-radius: 14px; display: grid; gap: 12px; align-content: start; grid-template-columns: minmax(0, 1fr); }
p.box { display: block; }
.alarm { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 16px; padding: 8px 16px; border: 2px solid var(--note-line); border-radius: 14px; background: var(--note); color: var(--on-note); font-size: 15px; }
.alarm form { margin-left: auto; }
.alarm a { color: inherit; }
.alarm ul { padding-left: 20px; }
.wrong { color: var(--danger); }
.verdict::before { margin-right: 6px; font-weight: 700; } .right::before { content: '✓'; color: var(--accent); } .wrong::before { content: '✗'; color: var(--danger); }
.alert strong { display: block; } .alert strong::first-letter { text-transform: uppercase; }
.alert { border: 2px solid var(--danger); background: var(--danger-wash); color: var(--danger); }
dl { display: grid; }
dl > div { display: grid; align-items: baseline; gap: 0 12px; padding: 6px 0; border-top: 1px solid var(--line); }
dl > div:first-child { border-top: 0; }
dt { color: var(--soft); font-size: 14px; }
dd { min-width: 0; }
code, pre { font-size: 13px; }
pre { padding: 12px 14px; background: var(--tint); border: 1px solid var(--line); border-radius: 10px; line-height: 1.55; white-space: pre; overflow-x: auto; overflow-wrap: normal; max-height: 420px; overflow-y: auto; }
.code { display: grid; gap: 8px; justify-items: start; grid-template-columns: minmax(0, 1fr); }
.text { width: 100%; max-height: 420px; overflow: auto; background: var(--tint); border: 1px solid var(--line); border-radius: 10px; }
.wraps pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.text pre { display: table; border: 0; background: none; max-height: none; overflow: visible; }
.copyable { display: inline-flex; flex-wrap: wrap; align-items: center; gap: 4px 10px; }
.copyable code { user-select: all; }
td .copyable { align-items: baseline; margin: -3px 0; }
button, .button { font: inherit; font-size: 15px; font-weight: 600; min-height: 40px; padding: 6px 16px; border-radius: 9px; border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); cursor: pointer; text-decoration: none; display: inline-flex; align-items: center; }
button:hover, .button:hover { background: var(--accent-strong); color: var(--on-accent); }
button.plain, .button.plain, button.small { background: var(--card); color: var(--ink); border-color: var(--edge); }
button.plain:hover, .button.plain:hover, button.small:hover { background: var(--tint); color: var(--ink); }
button.danger { background: var(--card); color: var(--danger); border-color: var(--danger); }
button.danger:hover { background: var(--danger-wash); color: var(--danger); }
button.small { font-size: 13px; font-weight: 500; min-height: 28px; padding: 2px 10px; }
[hidden] { display: none !important; }
.form { display: flex; flex-wrap: wrap; gap: 10px 12px; align-items: end; }
.inline { display: inline-flex; flex-wrap: wrap; gap: 8px; align-items: center; }
.field { display: grid; gap: 3px; flex: 1 1 150px; max-width: 240px; min-width: 0; }
.field.wide { flex: 100 1 260px; max-width: none; }
::placeholder { color: var(--soft); opacity: 1; }
label { font-size: 13px; color: var(--soft); }
input, select { font: inherit; font-size: 15px; width: 100%; min-width: 0; min-height: 40px; padding: 6px 10px; border: 1px solid var(--edge); border-radius: 9px; background: var(--card); color: var(--ink); }
.counts { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 8px; margin: -6px -10px; }
.counts a { display: block; padding: 4px 10px; border: 1px solid transparent; border-radius: 9px; color: inherit; text-decoration: none; white-space: nowrap; font-size: 14px; }
.counts a:hover { background: var(--tint); }
.counts a[aria-current] { background: var(--wash); border-color: var(--accent); }
.number { font-size: 18px; font-weight: 650; font-variant-numeric: tabular-nums; margin-right: 2px; }
.bar { width: 100%; height: 12px; display: block; border-radius: 6px; background: var(--tint); }
.chart { display: grid; gap: 6px; margin: 0; }
.chart svg { width: 100%; height: 44px; display: block; border-radius: 6px; background: var(--tint); }
.c-succeeded, .c-delivered { fill: var(--accent); } .c-pending { fill: var(--note-line); } .c-failed { fill: var(--danger); } .c-canceled { fill: var(--edge); } .c-expired { fill: var(--late); }
.system { --late: #7c4dbe; }
@media (prefers-color-scheme: dark) { .system { --late: #c4a5f5; } }
.status { white-space: nowrap; font-size: 14px; }
.status::before { content: ''; display: inline-block; width: 9px; height: 9px; margin-right: 7px; border-radius: 50%; background: var(--edge); }
.status.pending::before, .status.inactive::before { background: var(--note-line); }
.status.succeeded::before, .status.delivered::before, .status.active::before, .status.valid::before { background: var(--accent); }
.status.failed::before, .status.refused::before { background: var(--danger); }
.status.expired::before { background: var(--late); border-radius: 1px; transform: rotate(45deg); }
.scroll { position: relative; overflow-x: auto; border-radius: 6px; }
table { width: 100%; border-collapse: collapse; font-size: 15px; }
th, td { padding: 9px 12px; text-align: left; vertical-align: top; border-top: 1px solid var(--line); overflow-wrap: normal; white-space: nowrap; }
thead th { border-top: 0; color: var(--soft); font-size: 13px; font-weight: 500; }
tbody th { font-weight: 600; white-space: normal; overflow-wrap: anywhere; min-width: 205px; max-width: 380px; }
tbody th .soft { font-weight: 400; }
td.long { white-space: normal; overflow-wrap: anywhere; min-width: 220px; }
td.name { white-space: normal; overflow-wrap: anywhere; min-width: 110px; max-width: 220px; }
td.address { white-space: normal; overflow-wrap: anywhere; min-width: 250px; max-width: 320px; }
tr:target, #send:target #outcome { background: var(--wash); }
#outcome { padding: 6px 10px; border-radius: 9px; background: var(--tint); }
#send { outline: 0; }
.below { display: block; }
.pages { display: flex; gap: 20px; } .pages a { padding: 4px 0; }
th.amount, td.amount { text-align: right; font-variant-numeric: tabular-nums; }
tbody th a, td a { display: inline-block; padding: 2px 0; margin: -2px 0; }
.warning { display: block; margin-top: 2px; font-size: 13px; font-weight: 400; color: var(--on-note); }
.warning::before { content: '⚠ '; }
.empty { display: grid; gap: 10px; grid-template-columns: minmax(0, 1fr); }
.timeline { list-style: none; margin: 0; padding: 0 0 0 14px; border-left: 2px solid var(--line); display: grid; gap: 12px; grid-template-columns: minmax(0, 1fr); }
.timeline > li { position: relative; }
.timeline > li::before { content: ''; position: absolute; left: -20px; top: 7px; width: 10px; height: 10px; border-radius: 50%; background: var(--accent); border: 2px solid var(--card); }
.timeline > .failed::before { background: var(--danger); } .timeline > .due::before { background: var(--card); border-color: var(--note-line); }
.timeline time { color: var(--soft); font-size: 13px; font-variant-numeric: tabular-nums; margin-right: 8px; }
.sides { display: grid; gap: 16px; grid-template-columns: minmax(0, 1fr); }
.side { display: grid; gap: 8px; align-content: start; grid-template-columns: minmax(0, 1fr); }
/* What a column of its own would stretch. */
.side > .small { justify-self: start; }
summary { cursor: pointer; min-height: 28px; font-size: 14px; }
details > * + * { margin-top: 8px; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (max-width: 599px) {
  .box { padding: 14px; }
  .field, .field.wide { max-width: none; flex: 1 1 100%; }
  search .field:not(:first-of-type) { flex-basis: 160px; }
  .tabs { margin: 0 -16px; }
  .tabs ul { flex-wrap: nowrap; overflow-x: auto; padding: 0 32px 0 16px; white-space: nowrap; scrollbar-width: none; mask-image: linear-gradient(to right, transparent, #000 12px calc(100% - 32px), transparent); }
  .tabs a { padding: 0 9px; }
  .tabs a:focus-visible { outline-offset: -4px; }
  .roomy { display: none; }
  .alarm { flex-wrap: nowrap; padding: 6px 8px 6px 12px; font-size: 14px; line-height: 1.4; }
  .alarm strong { display: inline-block; }
  .alarm strong::first-letter { text-transform: uppercase; }
  .alarm button { min-height: 32px; padding: 2px 10px; font-size: 14px; white-space: nowrap; }
  table, tbody { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tbody tr { display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 16px; padding: 10px 0; border-top: 1px solid var(--line); }
  tbody tr:first-child { border-top: 0; padding-top: 0; }
  tbody th, td, td.long, td.name, td.address { min-width: 0; max-width: none; padding: 0; border: 0; }
  tbody th, td.long, td.address { flex: 1 0 100%; }
  td.amount { white-space: normal; overflow-wrap: anywhere; text-align: left; }
  td:empty { display: none; }
  td[data-label]::before { content: attr(data-label) ' '; color: var(--soft); font-size: 13px; }
}
@media (min-width: 480px) { dl > div { grid-template-columns: 132px minmax(0, 1fr); } }
@media (min-width: 860px) { .columns, .sides { grid-template-columns: repeat(2, minmax(0, 1fr)); } .columns.uneven { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); } }
`;

/** Styles of the dashboard. */
export const DASHBOARD_STYLES = pack(BASE + DASHBOARD);
