import { raw } from 'hono/html';
import type { Child } from 'hono/jsx';
import { GatewayError } from '../../../contract/error.ts';
import { type DocPage, docPages, searchDocs } from '../../../system/docs.ts';
import { basePath } from '../../environment.ts';
import { Field } from './forms.tsx';
import { type NounPages, type PageRenderer, pageAt } from './page.tsx';
import { PLACES } from './paths.ts';

/** Shows one page of the documentation, or the list of all with a search. */
const docsPage: PageRenderer = async ({ parts, id, query: { q = '' } }) => {
  const { path, name } = PLACES.docs;
  const pages = await docPages();
  if (id === '') {
    const base = `${basePath(parts.runtime)}${path}`;
    const lists = q.trim() ? foundIn(pages, q, base) : pagesByGroup(pages, base);
    return {
      ...pageAt('docs', await rendered(`# ${name}\n\n${lists}`, <SearchForm q={q} />)),
      isStill: true,
    };
  }
  const page = pages.find(({ file }) => file === id);
  if (!page) throw new GatewayError('not_found', `there is no documentation page "${id}"`);
  const { title, text } = page;
  return { place: 'docs', path: `${path}/${id}`, title, content: await rendered(text), isStill: true };
};

function SearchForm({ q }: { q: string }) {
  return (
    <form class="form" method="get" aria-label="Documentation">
      <Field name="q" label="Find in the documentation" value={q} placeholder="express, signature, 401" />
      <button type="submit" class="plain">
        Find
      </button>
    </form>
  );
}

const listOf = (links: readonly string[]) => links.map((link) => `- ${link}`).join('\n');

function pagesByGroup(pages: readonly DocPage[], base: string): string {
  return [...new Set(pages.map(({ group }) => group))]
    .map((group) => {
      const own = pages.filter((page) => page.group === group);
      return `## ${group}\n\n${listOf(own.map(({ file, title }) => `[${title}](${base}/${file})`))}`;
    })
    .join('\n\n');
}

/** The sections with the words. */
function foundIn(pages: readonly DocPage[], words: string, base: string): string {
  const titles = new Map(pages.map(({ file, title }) => [file, title]));
  const links = searchDocs(pages, words).map(({ file, heading }) => {
    const title = titles.get(file);
    return `[${title === heading ? heading : `${title}: ${heading}`}](${base}/${file}#${anchorOf(heading)})`;
  });
  return links.length ? listOf(links) : 'No page has all of these words.';
}

/** Matches links to files that are not pages. */
const NO_PAGE = /^\.\.\/\.\.\/|^(?!https?:|#|.*\.md(?:#|$))/;

/** Pages with more sections than this have a table of contents. */
const MAX_SECTIONS = 4;

/** @param search a form below the title */
async function rendered(markdown: string, search?: Child) {
  // Imported here, so that the emulator starts faster.
  const { Marked } = await import('marked');
  const sections: string[] = [];
  const { parse } = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const html = this.parser.parseInline(tokens);
        const text = this.parser.parseInline(tokens, this.parser.textRenderer);
        if (depth === 2) sections.push(`<li><a href="#${anchorOf(text)}">${html}</a></li>`);
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
  const endOfTitle = html.indexOf('</h1>') + '</h1>'.length;
  return (
    <article class="box doc">
      {raw(html.slice(0, endOfTitle))}
      {search}
      {search === undefined && sections.length > MAX_SECTIONS && (
        <nav aria-label="Contents">
          <ul>{raw(sections.join(''))}</ul>
        </nav>
      )}
      {raw(html.slice(endOfTitle))}
    </article>
  );
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
