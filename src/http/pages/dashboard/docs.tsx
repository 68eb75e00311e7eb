import { raw } from 'hono/html';
import { GatewayError } from '../../../contract/error.ts';
import { docPages } from '../../../system/docs.ts';
import { Code } from './blocks.tsx';
import { type PageRenderer, PLACES, pageAt } from './page.tsx';

/** The list of the documentation pages, or one of them. */
export const docsPage: PageRenderer = async ({ id }) => {
  const { path, name } = PLACES.docs;
  const pages = await docPages();
  if (id === '') {
    const list = pages.map(({ file, title }) => `- [${title}](${path}/${file})`).join('\n');
    return { ...pageAt('docs', <Markdown text={`# ${name}\n${list}`} />), isStill: true };
  }
  const page = pages.find(({ file }) => file === id);
  if (!page) throw new GatewayError('not_found', `there is no documentation page "${id}"`);
  const { title, text } = page;
  return { place: 'docs', path: `${path}/${id}`, title, content: <Markdown text={text} />, isStill: true };
};

/** A fence, a table, a list, a heading, HTML (not shown), or a paragraph. */
const BLOCK =
  /^```\w*\n(?<fence>[\s\S]*?)^```$|(?<table>(?:^\|.*\n?)+)|(?<list>(?:^(?:-|\d+\.) .*\n?)+)|^(?<level>#+) (?<heading>.+)$|^<.*$|^(?<text>.+)$/gm;

/** As much of Markdown as the packaged pages use. */
function Markdown({ text }: { text: string }) {
  const blocks = [...text.matchAll(BLOCK)].map(({ groups = {} }, index) => {
    const { fence, table, list = '', level = '', heading, text: paragraph } = groups;
    if (fence) return <Code id={`code-${index}`} text={fence} what={`Code ${index}`} />;
    if (table)
      return (
        <div class="scroll">
          <table>{raw(tableRows(table.trim().split('\n')))}</table>
        </div>
      );
    if (heading)
      return raw(`<h${level.length} id="${anchorOf(heading)}">${inline(heading)}</h${level.length}>`);
    if (paragraph) return <p>{raw(inline(paragraph))}</p>;
    const items = list.match(/(?<=^\S+ ).+/gm)?.map((item) => <li>{raw(inline(item))}</li>);
    return items && (list.startsWith('-') ? <ul>{items}</ul> : <ol>{items}</ol>);
  });
  return <article class="box doc">{blocks}</article>;
}

/** The lines of a table; the second one only draws a rule. */
function tableRows([head = '', , ...rows]: readonly string[]): string {
  const row = (line: string, tag: string) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => `<${tag}>${inline(cell.trim().replaceAll('\\|', '|'))}</${tag}>`)
      .join('');
  return [row(head, 'th'), ...rows.map((line) => row(line, 'td'))]
    .map((cells) => `<tr>${cells}</tr>`)
    .join('');
}

const INLINE = /`([^`]+)`|(\*\*?)(.+?)\2|!?\[((?:`[^`]*`|[^\]])*)\]\(([^)]*)\)/g;

/** Links to files that are not pages are only text. */
const PAGE = /^(?:https?:|#)|^(?!\.\.\/\.\.\/).*\.md(?:#|$)/;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '"': '&quot;' };
const inline = (text: string): string =>
  styled(text.replace(/&(?!lt;)|[<"]/g, (character) => ENTITIES[character] ?? ''));

const styled = (text: string): string =>
  text.replace(INLINE, (_, code?: string, stars?: string, marked = '', label = '', to = '') => {
    if (code) return `<code>${code}</code>`;
    if (stars) return stars === '*' ? `<em>${styled(marked)}</em>` : `<strong>${styled(marked)}</strong>`;
    return PAGE.test(to) ? `<a href="${to}">${styled(label)}</a>` : styled(label);
  });

/** As GitHub makes them. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');
