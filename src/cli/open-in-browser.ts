import type { Output } from './output.ts';

/** Opens an address in the browser, or says that somebody has to. */
export async function openInBrowser(url: string, output: Output): Promise<void> {
  const { default: open } = await import('open');
  await open(url).catch(() => output.notice(`No browser could be opened: go to ${url}`));
}
