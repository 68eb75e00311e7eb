import { GatewayError } from '../contract/error.ts';
import { type Hint, type HintStyle, NPX } from '../contract/hint.ts';

/** Names options as in code: `autoDelay`, not `--auto-delay`. */
export const STYLE: HintStyle = {
  ...NPX,
  option: ({ option: name, value }) => (value === undefined ? name : `${name} (${value})`),
};

/** The same error with the library's option names in its hint. @param instead a hint that replaces its own */
export function inOptionNames(error: unknown, instead?: Hint): unknown {
  if (!(error instanceof GatewayError)) return error;
  const { code, message, problems, problemCount, hint: advice = [], cause } = error;
  const named = (instead ?? advice).map((part) =>
    typeof part !== 'string' && 'option' in part ? STYLE.option(part) : part,
  );
  return new GatewayError(code, message, {
    problems,
    problemCount,
    ...(named.length && { hint: named }),
    cause,
  });
}
