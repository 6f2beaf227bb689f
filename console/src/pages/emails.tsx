import type { MarketingEmailRecord, MarketingEmailSendRequest, MarketingEmailSendResponse } from '@tallygate/sdk';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { count, moment } from '../format.ts';
import { from, Paged, useReload } from '../marketing/paged.tsx';
import { TextArea } from '../marketing/text-area.tsx';
import { Confirm, Dialog, Field, Form, given } from '../ui/dialog.tsx';
import { Badge, Empty, PageHead } from '../ui/parts.tsx';
import type { Column } from '../ui/table.tsx';

const TONES = { scheduled: 'wait', preparing: 'wait', sending: 'wait', sent: 'good', canceled: 'quiet' } as const;

function mailOf(fields: FormData): MarketingEmailSendRequest {
  const [q, event] = [given(fields, 'q'), given(fields, 'event')];
  return {
    to: { filter: { consent: 'given', ...(q !== undefined && { q }), ...(event !== undefined && { event_slug: event }) } },
    subject: given(fields, 'subject') ?? '',
    text: given(fields, 'text') ?? '',
  };
}

/** First how it looks and whom it reaches; then, on another press, it is sent. */
function Write({ onClose }: { onClose: () => void }) {
  const reload = useReload('emails');
  const [shown, setShown] = useState<{ readonly mail: MarketingEmailSendRequest; readonly answer: MarketingEmailSendResponse }>();
  const preview = async (fields: FormData): Promise<void> => {
    const mail = mailOf(fields);
    setShown({ mail, answer: await tallygate.emails.send({ ...mail, mode: 'preview' }) });
  };
  if (shown) {
    const { mail, answer } = shown;
    const send = async (): Promise<void> => {
      await tallygate.emails.send({ ...mail, mode: 'send' });
      await reload();
    };
    return (
      <Confirm title={`Send it to ${count(answer.recipients)} people?`} action="Send" onConfirm={send} onClose={onClose}>
        {answer.preview
          ? `To ${answer.preview.to} it reads: “${answer.preview.subject}” – ${answer.preview.text}`
          : 'Nobody is reached by it.'}
      </Confirm>
    );
  }
  return (
    <Dialog title="Write to people" onClose={onClose}>
      <Form action="Show it first" onSubmit={preview} onCancel={onClose}>
        <Field name="q" label="To those who are found by" placeholder="#beta" hint="Of those with consent alone. Empty: all of them." />
        <Field name="event" label="Registered for the event" placeholder="launch-day" />
        <Field name="subject" label="Subject" isRequired />
        <TextArea
          name="text"
          label="Text"
          rows={8}
          isRequired
          hint="{{first_name|there}}, {{company}} and {{unsubscribe_url}} are filled in."
        />
      </Form>
    </Dialog>
  );
}

const columnsOf = (onCancel: (email: MarketingEmailRecord) => void): readonly Column<MarketingEmailRecord>[] => [
  { name: 'Subject', cell: ({ subject }) => subject },
  { name: 'State', cell: ({ state }) => <Badge state={state} tone={TONES[state]} /> },
  { name: 'To', cell: ({ progress }) => count(progress.recipients), isFigure: true },
  { name: 'Sent', cell: ({ progress }) => count(progress.sent), isFigure: true },
  { name: 'Bounced', cell: ({ progress }) => count(progress.bounced), isFigure: true, isSecondary: true },
  { name: 'Left out', cell: ({ progress }) => count(progress.suppressed), isFigure: true, isSecondary: true },
  { name: 'Begun', cell: ({ started_at: at }) => moment(at), isSecondary: true },
  {
    name: 'Stop',
    cell: (email) =>
      email.state === 'sent' || email.state === 'canceled' ? null : (
        <button type="button" onClick={() => onCancel(email)}>
          Stop
        </button>
      ),
  },
];

export function EmailsPage() {
  const reload = useReload('emails');
  const [isWriting, setWriting] = useState(false);
  const [stopped, setStopped] = useState<MarketingEmailRecord>();
  const cancel = async (): Promise<void> => {
    if (stopped) await tallygate.emails.cancel(stopped.email_id);
    await reload();
  };
  const write = (
    <button type="button" className="primary" onClick={() => setWriting(true)}>
      Write to people
    </button>
  );
  return (
    <>
      <PageHead title="E-mails" aside={write}>
        Mail to people who consented, with what became of each.
      </PageHead>
      <Paged
        name="emails"
        label="E-mails, the newest first"
        columns={columnsOf(setStopped)}
        idOf={({ email_id: id }) => id}
        read={async (cursor) => tallygate.emails.list(from(cursor))}
        empty={<Empty title="Nothing was sent yet">Write to all who consented, to those with a tag, or to the people of an event.</Empty>}
      />
      {isWriting && <Write onClose={() => setWriting(false)} />}
      {stopped && (
        <Confirm title={`Stop “${stopped.subject}”?`} action="Stop it" onConfirm={cancel} onClose={() => setStopped(undefined)}>
          {count(stopped.progress.queued)} people who wait for it do not get it; {count(stopped.progress.sent)} have it already.
        </Confirm>
      )}
    </>
  );
}
