import { raw } from 'hono/html';
import { Marked } from 'marked';
import { GatewayError } from '../../../contract/error.ts';
import { docPages } from '../../../system/docs.ts';
import { type PageRenderer, PLACES, pageAt } from './page.tsx';

/** The list of the documentation pages, or one of them. */
export const docsPage: PageRenderer = async ({ id }) => {
  const { path, name } = PLACES.docs;
  const pages = await docPages();
  if (id === '') {
    const list = pages.map(({ file, title }) => `- [${title}](${path}/${file})`).join('\n');
    return { ...pageAt('docs', <Markdown text={`# ${name}\n\n${list}`} />), isStill: true };
  }
  const page = pages.find(({ file }) => file === id);
  if (!page) throw new GatewayError('not_found', `there is no documentation page "${id}"`);
  const { title, text } = page;
  return { place: 'docs', path: `${path}/${id}`, title, content: <Markdown text={text} />, isStill: true };
};

function Markdown({ text }: { text: string }) {
  const html = MARKDOWN.parse(text, { async: false });
  return (
    <article class="box doc">
      {raw(html.replaceAll(/<table>.*?<\/table>/gs, '<div class="scroll">$&</div>'))}
    </article>
  );
}

/** Links to files that are not pages. */
const NO_PAGE = /^\.\.\/\.\.\/|^(?!https?:|#|.*\.md(?:#|$))/;

const MARKDOWN = new Marked({
  renderer: {
    heading({ tokens, depth }) {
      const html = this.parser.parseInline(tokens);
      return `<h${depth} id="${anchorOf(this.parser.parseInline(tokens, this.parser.textRenderer))}">${html}</h${depth}>`;
    },
    // The default for other links.
    link({ href, tokens }) {
      return NO_PAGE.test(href) && this.parser.parseInline(tokens);
    },
    // The pictures are not in the package, and comments are for editors.
    image: () => '',
    html: () => '',
  },
});

/** As GitHub makes them. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');
