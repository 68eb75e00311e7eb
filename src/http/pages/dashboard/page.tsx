import { type Child, createContext } from 'hono/jsx';
import { type GatewayError, type HintStyle, PLAIN } from '../../../contract/error.ts';
import type { Mask } from '../../../contract/secrets.ts';
import type { Mode } from '../../../contract/vocabulary.ts';
import type { App, AppDependencies } from '../../environment.ts';
import { type FormValues, type Place, type RecordPlace, recordPath } from './paths.ts';

export interface Page {
  /** Null for a page outside the navigation. */
  place: Place | null;
  path: string;
  title: string;
  content: Child;
  /** Whether the content stays the same after events. */
  isStill?: boolean;
  /** The search text. */
  query?: string | undefined;
}

/** The error in a request. A rejected form is shown again with its values. */
export interface Refusal {
  error: GatewayError;
  to?: string;
  values?: FormValues;
}

/** The context that every component of a page can read. */
interface PageFacts {
  /** How to write commands. */
  style: HintStyle;
  /** The emulator's time, in milliseconds since 1970. */
  now: number;
  /** Masks a text before it is cut. */
  mask: Mask;
  refusal?: Refusal | undefined;
}
export const PageContext = createContext<PageFacts>({ style: PLAIN, now: 0, mask: (text) => text });

/**
 * @param request `id`: the record in the path; `refusal`: the error that the page shows
 * @returns the page, or the path where it is now
 * @throws GatewayError `not_found` for a record that does not exist
 */
export type PageRenderer = (request: {
  parts: AppDependencies;
  query: FormValues;
  id: string;
  refusal: Refusal | undefined;
}) => Page | string;

/**
 * Handles a submitted form.
 *
 * @param id the record in the path
 * @returns the path to redirect to; undefined for the page that the form names in `from`, or the page above the form;
 *   or values with which the response shows the page above
 */
export type FormAction = (
  parts: AppDependencies,
  fields: FormValues,
  id: string,
  app: App,
) => Promise<string | undefined | FormValues>;

/** The pages of one noun, and its forms, by the path that they post to. */
export interface NounPages {
  pages: Readonly<Record<string, PageRenderer>>;
  /** The page above a form's path shows it again if it is rejected. */
  forms?: Readonly<Record<string, FormAction>>;
}

interface Heading {
  title: string;
  mode?: Mode;
  /** An amount that matters more than the other facts. */
  sum?: string;
  status?: Child;
}

/** Builds a record's page: its heading and its sections. */
export function recordPage(
  place: RecordPlace,
  id: string | number,
  { title, mode, sum, status }: Heading,
  sections: Child,
): Page {
  const content = (
    <>
      <div class="heading" role="status">
        <h1>{title}</h1>
        {mode && <span class="tag">{mode}</span>}
        {sum !== undefined && <span class="sum">{sum}</span>}
        {status}
      </div>
      {sections}
    </>
  );
  return {
    // IPNs without a payment are found in the requests.
    place: place === 'ipns' ? 'requests' : place,
    path: recordPath(place, id),
    title: mode ? `${title} · ${mode}` : title,
    content,
  };
}
