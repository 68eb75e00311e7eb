import { PROFILE_NAMES } from '../../contract/profiles.ts';
import { SEEN_IN_PS } from '../../options/secret-file.ts';
import { type ActionsOf, counted, type Declarations, group, text } from '../command.ts';

const ABOUT = `
Holds every line of the manifest against an emulator or a deployment: a request, and what must come back. Without
--target it asks the emulator that runs here, or one of its own in memory. Of a target on this machine that proves to be
gateway-sim (by X-Gateway-Sim on GET /_sim/livez) everything is tried, and what is left pending is canceled. Of any other
only the sandbox is, and elsewhere with at most five requests a second. Nothing is settled that was not made by this run. For IPNs from elsewhere give an address
that leads to this machine (a tunnel to --ipn-port), else they are not seen. Exit code 1 when a line does not hold.`;

export const COMMANDS = {
  conform: {
    summary: 'hold what is known of the service interface against an emulator or a deployment',
    options: {
      target: text('base-url', 'what to ask, such as https://pay.example.com (default: the emulator here)'),
      profile: text(
        'name|file',
        `what to expect: ${PROFILE_NAMES.join(', ')}, or a file (default: document)`,
      ),
      publicKey: text('key', 'public key of a merchant there'),
      secretKey: text('key', `secret key of the same merchant; ${SEEN_IN_PS}`),
      ipnUrl: text('url', 'public address that leads to --ipn-port of this machine'),
      ipnPort: text('number', 'port to listen on for IPNs (default: a free one)'),
      live: counted('try live mode of what is no emulator here, too: give it twice, real money may move'),
      manifest: text('file', 'hold these lines against it instead'),
      out: text('file', 'write the differences, with keys and personal data masked'),
      updateProfile: text('file', 'write a profile that explains the differences, for start --profile'),
      junit: text('file', 'write the result as JUnit XML, too'),
    },
    about: ABOUT,
    examples: [
      'conform',
      'conform --profile newer-server',
      'conform --target https://pay.example.com --public-key pub_… --secret-key @key.txt --out differences.json',
    ],
  },
} as const satisfies Declarations;
export type Actions = ActionsOf<typeof COMMANDS>;

export const conform = group({ commands: COMMANDS, load: () => import('../actions/conform.ts') });
