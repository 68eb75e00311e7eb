import type { RecordedRequest } from '../contract/event.ts';
import type { App } from './environment.ts';

interface ServiceRequest {
  method: string;
  /** Path and query. */
  target: string;
  headers: Readonly<Record<string, string>>;
  body: string | null;
}

/** The response of the service, and its entry in the request log. */
export interface ServiceResponse {
  status: number;
  body: string;
  recorded: RecordedRequest | undefined;
}

/** Sends a request to the service as a merchant's code or a browser would. */
export type CallService = (request: ServiceRequest) => Promise<ServiceResponse>;

/** Calls the routes of the app inside the process. Log, faults and checks apply as to any other request. */
export function serviceCaller(app: App): CallService {
  return async ({ method, target, headers, body }) => {
    let recorded: RecordedRequest | undefined;
    const onRecorded = (one: RecordedRequest) => {
      recorded = one;
    };
    // Any host works: the routes of the service do not check it.
    const request = new Request(`http://localhost${target}`, { method, headers: { ...headers }, body });
    const response = await app.fetch(request, { onRecorded });
    return { status: response.status, body: await response.text(), recorded };
  };
}
