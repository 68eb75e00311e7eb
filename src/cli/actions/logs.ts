import type { SimEvent } from '../../contract/event.ts';
import type { Answer } from '../../library/request.ts';
import type { Actions } from '../commands/logs.ts';
import { showEvent } from '../format-event.ts';

/** What is remembered, and with --follow what happens from now on. */
export const logs: Actions['logs'] = async ({ options, output, connect }) => {
  const server = await connect();
  const answer = await server.open('GET /events', {
    query: { since: '0', follow: options.follow ? 'true' : 'false' },
  });
  for await (const data of serverSentEvents(answer)) {
    if (output.unread) break;
    showEvent(JSON.parse(data) as SimEvent, output);
  }
  return undefined;
};

/** The data of server-sent events as our server writes them, a line for each; ends with the stream. */
async function* serverSentEvents(answer: Answer): AsyncGenerator<string> {
  let text = '';
  try {
    for await (const chunk of answer.setEncoding('utf8')) {
      text += chunk;
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) if (line.startsWith('data: ')) yield line.slice('data: '.length);
    }
  } catch (error) {
    // The server was killed in the middle of the stream: that ends the log like a stop does.
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
  }
}
