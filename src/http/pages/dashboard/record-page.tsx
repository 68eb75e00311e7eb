import type { Child } from 'hono/jsx';
import { listPath, recordPath } from './navigation.ts';
import type { Page } from './page.ts';

/** What the page of a record is made of. */
export interface RecordParts {
  place: 'payments' | 'ipns' | 'cards' | 'requests';
  id: string | number;
  title: string;
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
        <a class="back" href={listPath(place, {})}>
          Back to the list
        </a>
      </div>
      {sections}
    </>
  );
  return { place, path: recordPath(place, id), title, content };
}
