/*
 * Two palettes, light and dark. Text has a contrast of at least 4.5:1 on its ground, edges of fields of 3:1
 * (WCAG 2.2 AA). Amber dashes and the typewriter face mark what belongs to the emulator and to no real page.
 */
const LIGHT = `
  color-scheme: light;
  --page: #eef2f0; --card: #fff; --tint: #f6f9f7; --ink: #13221d; --soft: #4d5f58; --line: #d9e2de;
  --edge: #74857e; --accent: #0a6650; --accent-strong: #084f3e; --on-accent: #fff; --wash: #e3f2ec;
  --danger: #b3261e; --danger-wash: #fdf1f0; --note: #fff7e0; --on-note: #5a4200; --note-line: #a37512;
  --focus: #0b57d0; --shadow: 0 1px 2px #13221d14, 0 12px 32px #13221d14; 
  --halo: drop-shadow(0 0 1px #13221d99);
`;
const DARK = `
  color-scheme: dark;
  --page: #0c1210; --card: #151d1a; --tint: #1a2420; --ink: #eaf1ee; --soft: #a6b6af; --line: #2b3833;
  --edge: #75877f; --accent: #57d3a9; --accent-strong: #82e3c3; --on-accent: #04231a; --wash: #173329;
  --danger: #ffb4ab; --danger-wash: #331917; --note: #272112; --on-note: #f3dd9b; --note-line: #b08d35;
  --focus: #8ab4ff; --shadow: 0 1px 2px #0006, 0 12px 32px #0006; 
  --halo: drop-shadow(0 0 1px #ffffffe6);
`;

/** What every page begins with: palettes, type, the bar at the top, cards. */
export const BASE = `
.light { ${LIGHT} }
.dark { ${DARK} }
.system { ${LIGHT} }
@media (prefers-color-scheme: dark) { .system { ${DARK} } }

*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; min-height: 100dvh; display: flex; flex-direction: column; align-items: center;
  padding: 0 16px 32px; gap: 24px; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
  overflow-wrap: anywhere;
}
h1, h2, h3, p, dl, dd, ul, pre { margin: 0; padding: 0; }
html { --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace; }
code, pre, .mark { font-family: var(--mono); }
a { color: var(--accent); text-underline-offset: 3px; }
a:hover { color: var(--accent-strong); }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
.mark {
  align-self: stretch; margin: 0 -16px; padding: 6px 16px; text-align: center; font-size: 12px; line-height: 1.5;
  background: var(--note); color: var(--on-note); border-bottom: 1px dashed var(--note-line);
}
.card {
  background: var(--card); border: 1px solid var(--line); border-radius: 16px; box-shadow: var(--shadow);
  width: 100%; overflow: hidden;
}
@media (prefers-reduced-motion: no-preference) { a, button, input, select { transition: background-color .12s, border-color .12s; } }
`;

/** A style sheet without its comments and indentation, which are for readers of the source only. */
export function pack(css: string): string {
  return css
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\n\s*/g, '\n')
    .trim();
}
