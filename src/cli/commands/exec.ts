import { command, hint } from '../../contract/hint.ts';
import { type ActionsOf, type Declarations, flag, group } from '../command.ts';
import { startFlags } from './start.ts';

const ABOUT = `
The emulator is a fresh one, in memory and on a free port: only the flags --port and --data-dir say otherwise, not the
variables or the configuration file. The command finds it by GATEWAY_SIM_URL, GATEWAY_SIM_PUBLIC_KEY,
GATEWAY_SIM_SECRET_KEY and GATEWAY_SIM_INITIATE_URL; with --tls it trusts it by NODE_EXTRA_CA_CERTS (unless that is
set) and GATEWAY_SIM_TLS_CA. Its exit code is passed on: 128 and the number of the signal that
ended it; 127 when there is no such command, 126 when it cannot be run. Without a terminal, as in CI, what it leaves
running is ended too.`;

const OWN_DEFAULTS = { port: 'a free one', dataDir: 'none, the state is kept in memory' };

const COMMANDS = {
  exec: {
    args: ['[command...]'],
    summary: 'run a command beside a fresh emulator',
    usage: '[start options] -- <command...>',
    options: {
      ...startFlags(({ commandOnly }) => !commandOnly, OWN_DEFAULTS),
      quiet: flag('no notices on stderr'),
    },
    advice: hint`Options of the command go behind the --, such as: ${command('exec', '--', 'npm', 'test', '--coverage')}`,
    about: ABOUT,
    examples: ['exec -- npm test', 'exec --auto approve -- npx playwright test'],
  },
} as const satisfies Declarations;
export type Actions = ActionsOf<typeof COMMANDS>;

export const exec = group({ commands: COMMANDS, load: () => import('../actions/exec.ts') });
