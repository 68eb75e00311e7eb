import type { Plugin } from 'vitest/config';

export const viteAssets: Plugin;
