import type { RecordedRequest } from '../contract/event.ts';
import type { App } from './environment.ts';

/** A request to the service. */
export interface ServiceRequest {
  method: string;
  /** Path and query. */
  target: string;
  headers: Readonly<Record<string, string>>;
  body: string | null;
}

/** What the service answered, and what the request log kept of it. */
export interface ServiceResponse {
  status: number;
  body: string;
  recorded: RecordedRequest | undefined;
}

/** Sends a request to the service as a merchant's code or a browser would. */
export type CallService = (request: ServiceRequest) => Promise<ServiceResponse>;

/** Calls the service by the routes of the app itself: log, faults and checks are those of any other request. */
export function serviceCaller(app: App): CallService {
  return async ({ method, target, headers, body }) => {
    let recorded: RecordedRequest | undefined;
    const onRecorded = (one: RecordedRequest) => {
      recorded = one;
    };
    // The host is never looked at: the service's own routes answer to any.
    const request = new Request(`http://localhost${target}`, { method, headers: { ...headers }, body });
    const response = await app.fetch(request, { onRecorded });
    return { status: response.status, body: await response.text(), recorded };
  };
}
