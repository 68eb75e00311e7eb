import { pack } from './styles.ts';

/** What the API reference needs beside the styles of the dashboard. */
export const REFERENCE_STYLES = pack(`
.reference { display: grid; gap: 20px 32px; grid-template-columns: minmax(0, 1fr); }
.intro { display: grid; gap: 10px; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 6px 20px; font-size: 14px; color: var(--soft); }
.contents { grid-column: auto; border: 1px solid var(--line); border-radius: 14px; background: var(--card); padding: 10px 14px; align-self: start; }
.contents ul { display: block; }
.contents a { display: flex; align-items: center; min-height: 32px; padding: 2px 6px; border: 0; margin: 0; color: var(--ink); }
.contents ul ul { display: none; }
.operations, .operations > section { display: grid; gap: 20px; grid-template-columns: minmax(0, 1fr); }
.operations > section { padding-top: 8px; }
.operations > section > p { color: var(--soft); margin-top: -14px; }
.operation {
  min-width: 0; padding: 18px 20px; background: var(--card); border: 1px solid var(--line); border-radius: 14px;
  display: grid; gap: 10px; align-content: start; grid-template-columns: minmax(0, 1fr);
}
.operation:target { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent); }
.operation h3 { font-size: 15px; font-weight: 600; }
.operation h3 a { color: var(--ink); text-decoration: none; display: inline-flex; flex-wrap: wrap; gap: 2px 10px; align-items: center; min-height: 28px; }
.operation h3 a:hover { text-decoration: underline; }
.operation h3 code { font-size: 15px; overflow-wrap: anywhere; }
.operation h4 { margin: 6px 0 0; font-size: 13px; font-weight: 600; color: var(--soft); }
.verb { font: 600 12px/1.5 var(--mono); color: var(--soft); }
h3 .verb { padding: 2px 8px; border-radius: 6px; background: var(--wash); color: var(--accent); border: 1px solid var(--line); }
.verb.delete { background: var(--danger-wash); color: var(--danger); }
.source, .required { display: inline-block; font-size: 12px; line-height: 1.4; padding: 1px 7px; border-radius: 999px; white-space: nowrap; }
.source { border: 1px solid var(--line); color: var(--soft); }
.source.documented { background: var(--wash); color: var(--accent); border-color: transparent; }
.source.observed { background: var(--note); color: var(--on-note); border-color: transparent; }
.required { color: var(--danger); padding: 0; }
.fields { list-style: none; display: grid; grid-template-columns: minmax(0, 1fr); }
.fields > li { padding: 7px 0; border-top: 1px solid var(--line); display: grid; gap: 2px; grid-template-columns: minmax(0, 1fr); }
.fields > li > p:not(.field-name) { font-size: 14px; color: var(--soft); }
.fields .fields { margin-top: 4px; padding-left: 14px; border-left: 2px solid var(--line); }
.field-name { display: flex; flex-wrap: wrap; gap: 2px 8px; align-items: baseline; }
.field-name > code { font-weight: 600; }
.type { font-size: 13px; color: var(--soft); overflow-wrap: anywhere; }
.type a { display: inline-block; min-height: 24px; line-height: 24px; }
.answers { list-style: none; display: grid; gap: 8px; grid-template-columns: minmax(0, 1fr); }
.answers > li { display: grid; gap: 4px; grid-template-columns: minmax(0, 1fr); font-size: 14px; }
.answers .code { display: inline; font: 600 13px/1.5 var(--mono); margin-right: 6px; }
.answers .good { color: var(--accent); }
.operation summary { display: list-item; min-height: 24px; }
.operation h3, .operations h2, .operation { scroll-margin-top: 16px; }
@media (min-width: 960px) {
  .reference { grid-template-columns: 300px minmax(0, 1fr); }
  .intro { grid-column: 1 / -1; }
  .contents { position: sticky; top: 16px; max-height: calc(100vh - 32px); overflow-y: auto; }
  .contents ul ul { display: block; padding: 0 0 8px 10px; }
  .contents ul ul a { font-size: 13px; color: var(--soft); display: block; min-height: 24px; line-height: 1.45; }
}
`);
