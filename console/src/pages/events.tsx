import type { MarketingEventRecord } from '@tallygate/sdk';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { count, usd } from '../format.ts';
import { EditEvent } from '../marketing/edit-event.tsx';
import { useMay } from '../session.ts';
import { Confirm } from '../ui/dialog.tsx';
import { from, Paged, useReload } from '../ui/paged.tsx';
import { At, Badge, Empty, PageHead } from '../ui/parts.tsx';
import type { Column } from '../ui/table.tsx';

const TONES = { draft: 'wait', published: 'good', archived: 'quiet' } as const;

/** What is asked before an event changes its state. */
interface Asked {
  readonly event: MarketingEventRecord;
  readonly what: 'publish' | 'unpublish' | 'archive';
}

const ASKED = {
  publish: ['Publish', 'Everybody can see it and register, and its address does not change any more.'],
  unpublish: ['Withdraw', 'It is not found any more until it is published again; registrations stay.'],
  archive: ['Archive', 'It stays archived: nobody registers any more.'],
} as const;

function act({ event, what }: Asked): Promise<unknown> {
  if (what === 'publish') return Promise.resolve(tallygate.marketingEvents.publish(event.slug));
  if (what === 'unpublish') return Promise.resolve(tallygate.marketingEvents.unpublish(event.slug));
  return Promise.resolve(tallygate.events.archive(event.event_id));
}

interface Actions {
  readonly onAsk: (asked: Asked) => void;
  /** Of administrators alone. */
  readonly onEdit: ((event: MarketingEventRecord) => void) | undefined;
}

function RowActions({ event, onAsk, onEdit }: Actions & { event: MarketingEventRecord }) {
  if (event.status === 'archived') return null;
  const button = (what: Asked['what']) => (
    <button type="button" onClick={() => onAsk({ event, what })}>
      {ASKED[what][0]}
    </button>
  );
  return (
    <span className="row-actions">
      {onEdit && (
        <button type="button" onClick={() => onEdit(event)}>
          Edit
        </button>
      )}
      {button(event.status === 'published' ? 'unpublish' : 'publish')}
      {onEdit && button('archive')}
    </span>
  );
}

const columnsOf = (actions: Actions): readonly Column<MarketingEventRecord>[] => [
  {
    name: 'Event',
    cell: ({ slug, title }) => (
      <Link to="/events/$slug" params={{ slug }} className="cut" title={title}>
        {title}
      </Link>
    ),
  },
  { name: 'Begins', cell: ({ starts_at: at }) => <At at={at} />, isSecondary: true },
  { name: 'State', cell: ({ status }) => <Badge state={status} tone={TONES[status]} /> },
  { name: 'Confirmed', cell: ({ registrations }) => count(registrations.confirmed), isFigure: true },
  { name: 'Waiting', cell: ({ registrations }) => count(registrations.waitlisted), isFigure: true, isSecondary: true },
  { name: 'Places left', cell: ({ places_left: left }) => (left === null ? 'no limit' : count(left)), isFigure: true, isSecondary: true },
  { name: 'Received', cell: ({ registrations }) => usd(registrations.received_usd), isFigure: true, isSecondary: true },
  { name: 'Change', isAction: true, cell: (event) => <RowActions event={event} {...actions} /> },
];

export function EventsPage() {
  const reload = useReload('events');
  const isOperator = useMay('run the gateway');
  const [edited, setEdited] = useState<MarketingEventRecord | 'new'>();
  const [asked, setAsked] = useState<Asked>();
  const confirm = async (): Promise<void> => {
    if (asked) await act(asked);
    await reload();
  };
  const create = isOperator && (
    <button type="button" className="primary" onClick={() => setEdited('new')}>
      Plan an event
    </button>
  );
  return (
    <>
      <PageHead title="Events" aside={create}>
        What people register for, with how many have.
      </PageHead>
      <Paged
        name="events"
        label="Events, the next one first"
        columns={columnsOf({ onAsk: setAsked, onEdit: isOperator ? setEdited : undefined })}
        idOf={({ event_id: id }) => id}
        read={async (cursor) => tallygate.marketingEvents.list(from(cursor))}
        empty={
          <Empty title="No events yet">
            {isOperator ? 'Plan one: it is a draft until it is published.' : 'An administrator of the gateway plans them.'}
          </Empty>
        }
      />
      {edited && <EditEvent event={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />}
      {asked && (
        <Confirm
          title={`${ASKED[asked.what][0]} ${asked.event.title}?`}
          action={`${ASKED[asked.what][0]} the event`}
          onConfirm={confirm}
          onClose={() => setAsked(undefined)}
        >
          {ASKED[asked.what][1]} {count(asked.event.registrations.confirmed)} people have a place.
        </Confirm>
      )}
    </>
  );
}
