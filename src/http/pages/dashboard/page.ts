import type { Child } from 'hono/jsx';
import type { AppContext, AppParts } from '../../environment.ts';
import type { FormValues } from './forms.tsx';
import { PLACES, type Place } from './navigation.ts';

/** A page of the dashboard: its place in the navigation, its address, its title, its content. */
export interface Page {
  place: Place;
  path: string;
  title: string;
  content: Child;
}

/** What a page is made from; `given` is what a form on it was given, when that was refused. */
export interface PageRequest {
  parts: AppParts;
  c: AppContext;
  given: FormValues;
}

/** @throws GatewayError `not_found` for a record that does not exist */
export type PageRenderer = (request: PageRequest) => Page;

/** The page at a place of the navigation, under its name. */
export function pageAt(place: Place, content: Child): Page {
  const { name: title, path } = PLACES[place];
  return { place, path, title, content };
}
