import type { MarketingEmailSendRequest, MarketingEmailSendResponse } from '@tallygate/sdk';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { messageOf } from '../query-client.ts';
import { useMe } from '../session.ts';

/** A mail as the API takes it, without what is to be done with it. */
export type Mail = Omit<MarketingEmailSendRequest, 'mode'>;

/** Sends what the first recipient would get to the person who is signed in, and says so. */
function TestLetter({ mail }: { mail: Mail }) {
  const { email } = useMe();
  const [said, setSaid] = useState('');
  const [isBusy, setBusy] = useState(false);
  const send = async (): Promise<void> => {
    setBusy(true);
    await tallygate.emails.send({ ...mail, mode: 'test' }).then(
      () => setSaid(`It is on its way to ${email}.`),
      (error: unknown) => setSaid(messageOf(error)),
    );
    setBusy(false);
  };
  return (
    <div className="form-actions">
      <span className="quiet" role="status">
        {said}
      </span>
      <button type="button" disabled={isBusy} aria-busy={isBusy} onClick={() => void send()}>
        Send me a test letter
      </button>
    </div>
  );
}

/** The mail as its first recipient reads it. */
export function MailPreview({ mail, answer: { preview } }: { mail: Mail; answer: MarketingEmailSendResponse }) {
  if (!preview) return <p className="failure">Nobody is reached by it.</p>;
  return (
    <>
      <dl className="facts">
        <div>
          <dt>To</dt>
          <dd>{preview.to}</dd>
        </div>
        <div>
          <dt>Subject</dt>
          <dd>{preview.subject}</dd>
        </div>
      </dl>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
      <section className="note-text letter" aria-label="Text of the mail" tabIndex={0}>
        {preview.text}
      </section>
      <details>
        <summary>HTML part</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
        <section className="note-text letter" aria-label="HTML part" tabIndex={0}>
          {preview.html}
        </section>
      </details>
      <TestLetter mail={mail} />
    </>
  );
}
