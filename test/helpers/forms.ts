import type { Sim } from './sim.ts';

/** The HTML of a page, whatever its status. */
export async function pageOf({ url }: Sim, path: string): Promise<string> {
  return (await fetch(url + path)).text();
}

/** Submits a form of the dashboard. */
export async function postForm(
  { url }: Sim,
  path: string,
  fields: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<{ status: number; location: string | null; html: string }> {
  const body = new URLSearchParams(fields);
  const answer = await fetch(url + path, { method: 'POST', body, headers, redirect: 'manual' });
  return { status: answer.status, location: answer.headers.get('location'), html: await answer.text() };
}
