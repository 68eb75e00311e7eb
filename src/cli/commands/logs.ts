import type { IncomingMessage } from 'node:http';
import type { SimEvent } from '../../contract/event.ts';
import { noServer } from '../../library/control-client.ts';
import { defineCommand, flag } from '../command.ts';
import { orStopped } from '../connect.ts';
import { eventPrinter } from '../format.ts';

/** Past events, and with --follow new ones. If no emulator is running, the events in its state. */
export const logs = defineCommand({
  summary: 'show requests, payments and IPNs as they happened',
  options: { follow: flag('keep running and print new events') },
  about: '\nIf no emulator is running, this shows the events in the data folder, without the requests.',
  examples: ['logs', 'logs --follow'],
  run: async (context) => {
    const { options, output, connect } = context;
    const remembered = async (): Promise<AsyncIterable<SimEvent> | Iterable<SimEvent>> => {
      const server = await connect();
      const query = { since: '0', follow: options.follow ? 'true' : 'false' } as const;
      return serverSentEvents(await server.open('GET /events', { query }), server.url);
    };
    const events = options.follow
      ? await remembered()
      : await orStopped(context, remembered, async ({ shown, snapshot }) => {
          const { storedEvents } = await import('../stored-events.ts');
          output.notice(
            `gateway-sim: no emulator is running for ${shown}; showing its stored events, without requests`,
          );
          return storedEvents(snapshot);
        });
    const print = eventPrinter(output);
    for await (const event of events) {
      if (output.unread) break;
      print(event);
    }
    return undefined;
  },
});

/** Server-sent events as our server writes them, one data line each. Ends with the stream. */
async function* serverSentEvents(answer: IncomingMessage, url: string): AsyncGenerator<SimEvent> {
  let text = '';
  try {
    for await (const chunk of answer.setEncoding('utf8')) {
      text += chunk;
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        if (line.startsWith('data: ')) yield JSON.parse(line.slice('data: '.length)) as SimEvent;
      }
    }
  } catch (error) {
    // The server was killed in the middle of the stream: that ends the log, as a stop would.
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw noServer(url, error);
  }
}
