import { BASE, pack } from '../pages/styles.ts';

const DASHBOARD = `
.frame { width: 100%; max-width: 1180px; display: grid; gap: 20px; grid-template-columns: minmax(0, 1fr); }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 16px; top: 40px; background: var(--card); padding: 8px 12px; z-index: 2; }
.top { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 4px 16px; align-items: baseline; }
.name { font-size: 15px; color: var(--soft); }
.name strong { color: var(--ink); font-size: 17px; }
.where { margin-left: 12px; }
.mark { font-weight: 600; letter-spacing: .04em; text-transform: uppercase; }
.live { font-size: 13px; color: var(--soft); white-space: nowrap; }
.live::before { content: ''; display: inline-block; width: 9px; height: 9px; margin-right: 6px; border-radius: 50%; background: var(--edge); }
.live:empty::before { display: none; }
.live.on::before { background: var(--accent); }
.live.off { color: var(--danger); } .live.off::before { background: var(--danger); }
nav { grid-column: 1 / -1; border-bottom: 1px solid var(--line); }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: 0 4px; }
nav a { display: inline-flex; align-items: center; min-height: 44px; padding: 0 12px; color: var(--soft); text-decoration: none; border-bottom: 3px solid transparent; margin-bottom: -1px; }
nav a:hover { color: var(--ink); }
nav a[aria-current] { color: var(--ink); font-weight: 600; border-bottom-color: var(--accent); }
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
.text pre { display: table; border: 0; background: none; max-height: none; overflow: visible; }
.copyable { display: inline-flex; flex-wrap: wrap; align-items: center; gap: 4px 10px; }
.copyable code { user-select: all; }
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
.field.wide { flex-basis: 360px; }
label { font-size: 13px; color: var(--soft); }
input, select { font: inherit; font-size: 15px; width: 100%; min-width: 0; min-height: 40px; padding: 6px 10px; border: 1px solid var(--edge); border-radius: 9px; background: var(--card); color: var(--ink); }
.counts { list-style: none; display: flex; flex-wrap: wrap; gap: 8px 24px; align-items: center; }
.number { font-size: 20px; font-weight: 650; font-variant-numeric: tabular-nums; margin-right: 4px; }
.charts { display: grid; gap: 16px 32px; grid-template-columns: minmax(0, 1fr); }
.chart { display: grid; gap: 6px; margin: 0; }
.chart svg { width: 100%; height: 44px; display: block; border-radius: 6px; background: var(--tint); }
.c-succeeded, .c-delivered { fill: var(--accent); } .c-pending { fill: var(--note-line); } .c-failed { fill: var(--danger); } .c-canceled { fill: var(--edge); } .c-expired { fill: var(--line); }
.status { white-space: nowrap; font-size: 14px; }
.status::before { content: ''; display: inline-block; width: 9px; height: 9px; margin-right: 7px; border-radius: 50%; background: var(--edge); }
.status.pending::before, .status.inactive::before { background: var(--note-line); }
.status.succeeded::before, .status.delivered::before, .status.active::before { background: var(--accent); }
.status.failed::before, .status.refused::before { background: var(--danger); }
.status.canceled::before, .status.expired::before { background: none; border: 2px solid var(--edge); }
.scroll { position: relative; overflow-x: auto; border-radius: 6px; }
table { width: 100%; border-collapse: collapse; font-size: 15px; }
th, td { padding: 9px 12px; text-align: left; vertical-align: top; border-top: 1px solid var(--line); overflow-wrap: normal; white-space: nowrap; }
thead th { border-top: 0; color: var(--soft); font-size: 13px; font-weight: 500; }
tbody th { font-weight: 600; white-space: normal; overflow-wrap: anywhere; min-width: 150px; max-width: 380px; }
tbody th .soft { font-weight: 400; }
td.long { white-space: normal; overflow-wrap: anywhere; min-width: 220px; }
td.name { white-space: normal; overflow-wrap: anywhere; min-width: 110px; max-width: 220px; }
td.address { white-space: normal; overflow-wrap: anywhere; min-width: 250px; max-width: 320px; }
tr:target { background: var(--wash); }
.below { display: block; }
.pages { display: flex; gap: 20px; } .pages a { padding: 4px 0; }
td.amount { font-variant-numeric: tabular-nums; }
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
summary { cursor: pointer; min-height: 28px; font-size: 14px; }
details > * + * { margin-top: 8px; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (max-width: 599px) { .box { padding: 14px; } th, td { padding: 8px 6px; } tbody th { min-width: 110px; } td.long, td.address { min-width: 200px; } }
@media (min-width: 480px) { dl > div { grid-template-columns: 132px minmax(0, 1fr); } }
@media (min-width: 860px) { .columns, .sides, .charts { grid-template-columns: repeat(2, minmax(0, 1fr)); } .columns.uneven { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); } }
`;

/** Styles of the dashboard. */
export const DASHBOARD_STYLES = pack(BASE + DASHBOARD);
