import type { SimEvent } from '../../contract/event.ts';
import { noServer } from '../../library/control-client.ts';
import type { Answer } from '../../library/request.ts';
import { defineCommand, flag } from '../command.ts';
import { showEvent } from '../format-event.ts';
import { orStopped, type StoppedFolder } from '../stopped-folder.ts';

type Events = AsyncIterable<SimEvent> | Iterable<SimEvent>;

/** What is remembered, and with --follow what happens from now on; where no emulator runs, what its state tells. */
export const logs = defineCommand({
  summary: 'what happened',
  options: { follow: flag('and what happens next') },
  about: '\nWhere no emulator runs, it is what the state of the data folder tells: all but the requests.',
  examples: ['logs', 'logs --follow'],
  run: async ({ options, output, connect, choice, io: { cwd } }) => {
    const remembered = async (): Promise<Events> => {
      const server = await connect();
      const answer = await server.open('GET /events', {
        query: { since: '0', follow: options.follow ? 'true' : 'false' },
      });
      return serverSentEvents(answer, server.url);
    };
    const stored = async ({ shown, snapshot }: StoppedFolder) => {
      const { storedEvents } = await import('../stored-events.ts');
      output.notice(
        `gateway-sim: no emulator runs on ${shown}: this is from its state, which holds no requests`,
      );
      return storedEvents(snapshot);
    };
    const events = options.follow ? await remembered() : await orStopped(remembered, stored, { choice, cwd });
    for await (const event of events) {
      if (output.unread) break;
      showEvent(event, output);
    }
    return undefined;
  },
});

/** Far longer than any line of a server of ours. */
const MAX_LINE = 64 * 2 ** 20;

/**
 * Server-sent events as our server writes them, a line for the data of each; ends with the stream.
 *
 * @throws GatewayError `no_server` for what no server of ours writes
 */
async function* serverSentEvents(answer: Answer, url: string): AsyncGenerator<SimEvent> {
  let text = '';
  try {
    for await (const chunk of answer.setEncoding('utf8')) {
      text += chunk;
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      if (text.length > MAX_LINE) throw noServer(url);
      for (const line of lines) {
        if (line.startsWith('data: ')) yield JSON.parse(line.slice('data: '.length)) as SimEvent;
      }
    }
  } catch (error) {
    // The server was killed in the middle of the stream: that ends the log like a stop does.
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw noServer(url, error);
  }
}
