import { type ActionsOf, type Declarations, group, text } from '../command.ts';

const COMMANDS = {
  openapi: {
    summary: 'the OpenAPI document of service and control API',
    options: {
      out: text('file', 'write it to this file'),
      url: text('url', 'address of the emulator that stands in it (default: http://127.0.0.1:4477)'),
    },
    examples: ['openapi --out openapi.json'],
  },
} as const satisfies Declarations;
export type Actions = ActionsOf<typeof COMMANDS>;

export const openapi = group({ commands: COMMANDS, load: () => import('../actions/openapi.ts') });
