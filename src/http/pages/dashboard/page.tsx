import type { Child } from 'hono/jsx';
import type { AppParts } from '../../environment.ts';
import type { FormValues } from './forms.tsx';
import { PLACES, type Place, type RecordPlace, recordPath } from './navigation.ts';

/** A page of the dashboard as it is shown. */
export interface Page {
  place: Place;
  path: string;
  title: string;
  content: Child;
  /** Nothing on it changes by what happens. */
  isStill?: boolean;
  /** Styles of this page alone. */
  styles?: string;
}

/** What a page is made from: the query of its address, and the record in it. */
export interface PageRequest {
  parts: AppParts;
  query: FormValues;
  id: string;
}

/** @throws GatewayError `not_found` for a record that does not exist */
export type PageRenderer = (request: PageRequest) => Page | Promise<Page>;

/** The page at a place of the navigation, under its name. */
export function pageAt(place: Place, content: Child): Page {
  const { name: title, path } = PLACES[place];
  return { place, path, title, content };
}

interface RecordParts extends Pick<Page, 'title'> {
  place: RecordPlace;
  id: string | number;
  /** An amount that matters more than the other facts. */
  sum?: string;
  status: Child;
  sections: Child;
}

/** The page of one record: its heading, its status, the way back to the list, and its sections. */
export function recordPage({ place, id, title, sum, status, sections }: RecordParts): Page {
  const content = (
    <>
      <div class="heading">
        <h1>{title}</h1>
        {sum !== undefined && <span class="sum">{sum}</span>}
        {status}
        <a class="back" href={PLACES[place].path}>
          Back to the list
        </a>
      </div>
      {sections}
    </>
  );
  return { place, path: recordPath(place, id), title, content };
}
