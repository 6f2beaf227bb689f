import type { MarketingEmailRecipient, MarketingEmailRecord } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { tallygate } from '../client.ts';
import { count, moment } from '../format.ts';
import { CancelMail } from '../marketing/cancel-mail.tsx';
import { from, Paged, useReload } from '../ui/paged.tsx';
import { At, Badge, Empty, Figure, Figures, PageHead, PagePending, Panel } from '../ui/parts.tsx';
import type { Column } from '../ui/table.tsx';

type State = MarketingEmailRecipient['state'];

const REFRESH_MS = 2_000;
const TONES: Readonly<Record<State, 'good' | 'bad' | 'wait' | 'quiet'>> = {
  ...{ queued: 'wait', handing_over: 'wait', sent: 'good', unconfirmed: 'wait' },
  ...{ bounced: 'bad', rejected: 'bad', failed: 'bad', suppressed: 'quiet', canceled: 'quiet' },
};
const STATES = Object.keys(TONES) as State[];

const COLUMNS: readonly Column<MarketingEmailRecipient>[] = [
  {
    name: 'To',
    cell: ({ to, person_id: personId }) =>
      personId === null ? (
        (to ?? 'erased')
      ) : (
        <Link to="/people/$personId" params={{ personId }}>
          {to ?? 'erased'}
        </Link>
      ),
  },
  { name: 'State', cell: ({ state }) => <Badge state={state} tone={TONES[state]} /> },
  { name: 'Tries', cell: ({ attempts }) => count(attempts), isFigure: true, isSecondary: true },
  { name: 'Why', cell: ({ last_error: why }) => why ?? '–', isSecondary: true },
  { name: 'Since', cell: ({ at }) => <At at={at} />, isSecondary: true },
];

const isRunning = ({ state }: MarketingEmailRecord): boolean => state !== 'sent' && state !== 'canceled';

function Recipients({ email: { email_id: emailId, progress } }: { email: MarketingEmailRecord }) {
  const [state, setState] = useState<State | ''>('');
  const reload = useReload('recipients');
  const figures = Object.values(progress).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked for again whenever the figures have changed.
  useEffect(() => void reload(), [figures]);
  return (
    <Panel title="Recipients">
      <search className="filters">
        <label>
          State{' '}
          <select value={state} onChange={({ target }) => setState(target.value as State | '')}>
            <option value="">any</option>
            {STATES.map((one) => (
              <option key={one} value={one}>
                {one.replaceAll('_', ' ')}
              </option>
            ))}
          </select>
        </label>
      </search>
      <Paged
        name="recipients"
        by={`${emailId} ${state}`}
        label="Recipients"
        columns={COLUMNS}
        idOf={({ recipient_id: id }) => id}
        read={async (cursor) => tallygate.emails.recipients(emailId, { ...from(cursor), ...(state !== '' && { state }) })}
        empty={<Empty title="Nobody">{state === '' ? 'Recipients are chosen when the sending begins.' : 'Choose another state.'}</Empty>}
      />
    </Panel>
  );
}

export function EmailPage() {
  const { emailId } = useParams({ from: '/frame/emails/$emailId' });
  const [isStopping, setStopping] = useState(false);
  const { data: email, error } = useQuery({
    queryKey: ['emails', emailId],
    queryFn: () => tallygate.emails.get(emailId),
    refetchInterval: ({ state }) => (state.data && isRunning(state.data) ? REFRESH_MS : false),
  });
  if (!email) return <PagePending error={error} />;
  const { progress } = email;
  const stop = isRunning(email) && (
    <button type="button" onClick={() => setStopping(true)}>
      Stop
    </button>
  );
  return (
    <>
      <PageHead title={email.subject} aside={stop}>
        <Badge state={email.state} tone={isRunning(email) ? 'wait' : 'good'} /> written {moment(email.created_at)}
        {isRunning(email) && `, sent from ${moment(email.scheduled_at)} on`}
      </PageHead>
      <Figures>
        <Figure label="Recipients" value={count(progress.recipients)} note={`${count(progress.queued)} still wait`} />
        <Figure label="Sent" value={count(progress.sent)} note={`${count(progress.unconfirmed)} more unconfirmed`} />
        <Figure label="Came back" value={count(progress.bounced + progress.rejected)} note={`${count(progress.failed)} given up`} />
        <Figure label="Left out" value={count(progress.suppressed)} note="unsubscribed, or came back before" />
      </Figures>
      <Recipients email={email} />
      {isStopping && <CancelMail email={email} onClose={() => setStopping(false)} />}
    </>
  );
}
