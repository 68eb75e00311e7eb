import type { SimEvent } from '../../contract/event.ts';
import { noServer } from '../../library/control-client.ts';
import type { Actions } from '../commands/logs.ts';
import { showEvent } from '../format-event.ts';

/** What is remembered, and with --follow what happens from now on. */
export const logs: Actions['logs'] = async ({ options, output, connect }) => {
  const server = await connect();
  const response = await server.open('GET /events', {
    query: { since: '0', follow: options.follow ? 'true' : 'false' },
  });
  if (!response.body) throw noServer(server.url);
  for await (const data of serverSentEvents(response.body)) {
    if (output.unread) break;
    showEvent(JSON.parse(data) as SimEvent, output);
  }
  return undefined;
};

/** The data of server-sent events as our server writes them, a line for each; ends with the stream. */
async function* serverSentEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true });
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) if (line.startsWith('data: ')) yield line.slice('data: '.length);
    }
  } catch (error) {
    // The server was killed in the middle of the stream: that ends the log like a stop does.
    if (!(error instanceof TypeError)) throw error;
  }
}
