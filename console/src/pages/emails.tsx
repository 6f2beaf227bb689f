import type { MarketingEmailRecord } from '@tallygate/sdk';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { count, moment } from '../format.ts';
import { CancelMail } from '../marketing/cancel-mail.tsx';
import { WriteMail } from '../marketing/write-mail.tsx';
import { from, Paged } from '../ui/paged.tsx';
import { Badge, Empty, PageHead } from '../ui/parts.tsx';
import type { Column } from '../ui/table.tsx';

const TONES = { scheduled: 'wait', preparing: 'wait', sending: 'wait', sent: 'good', canceled: 'quiet' } as const;

const columnsOf = (onCancel: (email: MarketingEmailRecord) => void): readonly Column<MarketingEmailRecord>[] => [
  {
    name: 'Subject',
    cell: ({ email_id: emailId, subject, is_test: isTest }) => (
      <>
        <Link to="/emails/$emailId" params={{ emailId }} className="cut" title={subject}>
          {subject}
        </Link>{' '}
        {isTest && <Badge state="test letter" />}
      </>
    ),
  },
  { name: 'State', cell: ({ state }) => <Badge state={state} tone={TONES[state]} /> },
  { name: 'To', cell: ({ progress }) => count(progress.recipients), isFigure: true },
  { name: 'Sent', cell: ({ progress }) => count(progress.sent), isFigure: true },
  { name: 'Bounced', cell: ({ progress }) => count(progress.bounced), isFigure: true, isSecondary: true },
  { name: 'Left out', cell: ({ progress }) => count(progress.suppressed), isFigure: true, isSecondary: true },
  { name: 'Begun', cell: ({ started_at: at }) => moment(at), isSecondary: true },
  {
    name: 'Stop',
    isAction: true,
    cell: (email) =>
      email.state === 'sent' || email.state === 'canceled' ? null : (
        <button type="button" onClick={() => onCancel(email)}>
          Stop
        </button>
      ),
  },
];

export function EmailsPage() {
  const [isWriting, setWriting] = useState(false);
  const [stopped, setStopped] = useState<MarketingEmailRecord>();
  const actions = (
    <>
      <Link to="/email-templates" className="button">
        Templates
      </Link>
      <button type="button" className="primary" onClick={() => setWriting(true)}>
        Write to people
      </button>
    </>
  );
  return (
    <>
      <PageHead title="E-mails" aside={actions}>
        Mail to people who consented, with what became of each.
      </PageHead>
      <Paged
        name="emails"
        label="E-mails, the newest first"
        columns={columnsOf(setStopped)}
        idOf={({ email_id: id }) => id}
        read={async (cursor) => tallygate.emails.list(from(cursor))}
        empty={<Empty title="Nothing was sent yet">Write to all who consented, to those with a tag, or to the people of an event.</Empty>}
        isMoving={(emails) => emails.some(({ state }) => state !== 'sent' && state !== 'canceled')}
      />
      {isWriting && <WriteMail onClose={() => setWriting(false)} />}
      {stopped && <CancelMail email={stopped} onClose={() => setStopped(undefined)} />}
    </>
  );
}
