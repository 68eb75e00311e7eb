import type { Choices } from '../../contract/profiles.ts';
import type { Dialect } from '../dialect.ts';

export const serviceError: Dialect['serviceError'] = ({ message, problems }) => ({
  error: 'true',
  message,
  errors: [...problems],
});

/** Errors for invalid fields, in each shape that deployments use (observed: refusal-field-errors*, refusal-field-list-live). The first shape is the default (chosen: refusal-field-message*). */
const FIELD_REFUSALS: Readonly<Record<Choices['liveRefusal'], Dialect['serviceError']>> = {
  'message-and-errors': serviceError,
  errors: ({ problems }) => ({ error: 'yes', errors: [...problems] }),
  'message-list': ({ problems }) => ({ error: 'true', message: [...problems] }),
};

/** The message of server copies for an unknown currency (observed: refusal-currency-bare*). */
const CURRENCY_MESSAGE = 'Currency not supported';

export const refusal: Dialect['refusal'] = (error, mode, choices) => {
  if (error.code === 'invalid_fields') {
    return FIELD_REFUSALS[mode === 'live' ? choices.liveRefusal : choices.sandboxRefusal](error);
  }
  if (choices.otherRefusal === 'message-and-errors') return serviceError(error);
  const { code, message } = error;
  return { error: 'true', message: code === 'unsupported_currency' ? CURRENCY_MESSAGE : message };
};

/** The response of server copies to a second visit to a settled payment (observed: checkout-again-error*). */
export const settledError = { error: 'true', message: 'Invalid transaction request' } as const;
