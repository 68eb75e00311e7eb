import { raw } from 'hono/html';
import { GatewayError } from '../../../contract/error.ts';
import { docPages } from '../../../system/docs.ts';
import { basePath } from '../../environment.ts';
import { type NounPages, type PageRenderer, pageAt } from './page.tsx';
import { PLACES } from './paths.ts';

/** Shows one page of the documentation, or the list of all. */
const docsPage: PageRenderer = async ({ parts, id }) => {
  const { path, name } = PLACES.docs;
  const pages = await docPages();
  if (id === '') {
    const base = basePath(parts.runtime);
    const list = pages.map(({ file, title }) => `- [${title}](${base}${path}/${file})`).join('\n');
    return { ...pageAt('docs', await rendered(`# ${name}\n\n${list}`)), isStill: true };
  }
  const page = pages.find(({ file }) => file === id);
  if (!page) throw new GatewayError('not_found', `there is no documentation page "${id}"`);
  const { title, text } = page;
  return { place: 'docs', path: `${path}/${id}`, title, content: await rendered(text), isStill: true };
};

/** Matches links to files that are not pages. */
const NO_PAGE = /^\.\.\/\.\.\/|^(?!https?:|#|.*\.md(?:#|$))/;

async function rendered(markdown: string) {
  // Imported here, so that the emulator starts faster.
  const { Marked } = await import('marked');
  const { parse } = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const html = this.parser.parseInline(tokens);
        const text = this.parser.parseInline(tokens, this.parser.textRenderer);
        return `<h${depth} id="${anchorOf(text)}">${html}</h${depth}>`;
      },
      // `false` selects the default renderer.
      link({ href, tokens }) {
        return NO_PAGE.test(href) && this.parser.parseInline(tokens);
      },
      // The package has no pictures, and comments are for editors.
      image: () => '',
      html: () => '',
    },
  });
  const html = parse(markdown, { async: false })
    .replaceAll(/<table>.*?<\/table>/gs, '<div class="scroll">$&</div>')
    // Scrollable areas must be reachable by keyboard.
    .replaceAll('<pre>', '<pre tabindex="0">');
  return <article class="box doc">{raw(html)}</article>;
}

const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

export const DOC_PAGES: NounPages = {
  pages: {
    [PLACES.docs.path]: docsPage,
    [`${PLACES.docs.path}/:id{.+}`]: docsPage,
  },
};
