import type { Wording } from './messages.ts';
import type { LiveTip } from './views.ts';

/** Who can pay, and where the code is: on a live page, where the emulator sends nothing to anybody. */
export function Tip({ tip, words: { tip: texts } }: { tip: LiveTip; words: Wording }) {
  switch (tip.about) {
    case 'wallet':
      return (
        <>
          <code>{tip.email}</code> {texts.wallet} <Command text={tip.command} />
        </>
      );
    case 'no_wallet':
      return (
        <>
          {texts.noWallet} <Command text={tip.command} />
        </>
      );
    case 'code':
      return (
        <>
          {texts.code} <Command text={tip.command} /> {texts.orIn}{' '}
          <a href="/_sim/ui/inbox" target="_blank" rel="noopener">
            {texts.inbox}
          </a>
          .
        </>
      );
  }
}

/** A command to paste. A line ends between its words, not at a hyphen within one. */
export function Command({ text }: { text: string }) {
  return (
    <code class="command">
      {text.split(' ').map((word, index) => (
        <>
          {index > 0 && ' '}
          <span>{word}</span>
        </>
      ))}
    </code>
  );
}
