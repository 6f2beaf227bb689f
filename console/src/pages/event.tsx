import type { MarketingEventRegistrationRecord } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { count, moment, usd } from '../format.ts';
import { useMay } from '../session.ts';
import { Dialog, Field, Form, given, Select } from '../ui/dialog.tsx';
import { from, Paged, useReload } from '../ui/paged.tsx';
import { Badge, Empty, Figure, Figures, PageHead, PagePending, Panel } from '../ui/parts.tsx';
import type { Column } from '../ui/table.tsx';

type Registration = MarketingEventRegistrationRecord;
const TONES = { confirmed: 'good', awaiting_payment: 'wait', waitlisted: 'wait', canceled: 'quiet' } as const;
const STATES = [
  ['', 'leave it'],
  ['confirmed', 'Confirm the place'],
  ['waitlisted', 'Put on the waitlist'],
  ['canceled', 'Cancel the place'],
] as const;

function EditRegistration({ registration, onClose }: { registration: Registration; onClose: () => void }) {
  const reload = useReload('registrations', 'event', 'events');
  const save = async (fields: FormData): Promise<void> => {
    const status = fields.get('status') as Exclude<(typeof STATES)[number][0], ''>;
    await tallygate.marketingEvents.updateRegistration(registration.registration_id, {
      attended: fields.get('attended') !== null,
      note: given(fields, 'note') ?? '',
      ...(status.length > 0 && { status }),
    });
    await reload();
    onClose();
  };
  return (
    <Dialog title={registration.name ?? registration.email} onClose={onClose}>
      <p>
        {registration.email} has registered on {moment(registration.registered_at)}: {registration.status.replaceAll('_', ' ')}.
      </p>
      {registration.message !== null && <p className="note-text">{registration.message}</p>}
      <Form action="Save" onSubmit={save} onCancel={onClose}>
        <Select name="status" label="Place" options={STATES} />
        <label className="check">
          <input type="checkbox" name="attended" defaultChecked={registration.attended_at !== null} /> Was there
        </label>
        <Field name="note" label="Note for the team" defaultValue={registration.note} />
      </Form>
    </Dialog>
  );
}

/** The whole payment goes back, and the place to the person who has waited longest: of administrators alone. */
function RefundPlace({ registration, onClose }: { registration: Registration; onClose: () => void }) {
  const reload = useReload('registrations', 'event', 'events');
  const refund = async (fields: FormData): Promise<void> => {
    await tallygate.events.refundRegistration(registration.registration_id, given(fields, 'reason') ?? '');
    await reload();
    onClose();
  };
  return (
    <Dialog title={`Refund the place of ${registration.name ?? registration.email}?`} onClose={onClose}>
      <Form action="Refund the place" isDangerous onSubmit={refund} onCancel={onClose}>
        <p>
          {usd(registration.price_usd)} go back to where they came from, the registration is canceled, and its place goes to the next person
          on the waitlist.
        </p>
        <Field name="reason" label="Why" isRequired autoComplete="off" />
      </Form>
    </Dialog>
  );
}

const columnsOf = (
  onEdit: (registration: Registration) => void,
  onRefund: ((registration: Registration) => void) | undefined,
): readonly Column<Registration>[] => [
  { name: 'Person', cell: ({ name, email }) => name ?? email },
  { name: 'E-mail address', cell: ({ email }) => email, isSecondary: true },
  { name: 'Place', cell: ({ status }) => <Badge state={status} tone={TONES[status]} /> },
  { name: 'Payment', cell: ({ payment_status: payment }) => payment.replaceAll('_', ' '), isSecondary: true },
  { name: 'Was there', cell: ({ attended_at: at }) => (at === null ? '–' : 'yes'), isSecondary: true },
  {
    name: 'Change',
    isAction: true,
    cell: (registration) => (
      <span className="row-actions">
        <button type="button" onClick={() => onEdit(registration)}>
          Edit
        </button>
        {onRefund && registration.payment_status === 'paid' && (
          <button type="button" onClick={() => onRefund(registration)}>
            Refund
          </button>
        )}
      </span>
    ),
  },
];

export function EventPage() {
  const { slug } = useParams({ from: '/frame/events/$slug' });
  const isOperator = useMay('run the gateway');
  const [edited, setEdited] = useState<Registration>();
  const [refunded, setRefunded] = useState<Registration>();
  const { data: event, error } = useQuery({ queryKey: ['event', slug], queryFn: () => tallygate.marketingEvents.get(slug) });
  if (!event) return <PagePending error={error} />;
  const { registrations: figures } = event;
  return (
    <>
      <PageHead title={event.title} aside={<Badge state={event.status} />}>
        {moment(event.starts_at)} {event.venue_name !== null && `, ${event.venue_name}`}
      </PageHead>
      <Figures>
        <Figure label="Confirmed" value={count(figures.confirmed)} note={`${count(figures.awaiting_payment)} more have to pay`} />
        <Figure label="On the waitlist" value={count(figures.waitlisted)} />
        <Figure label="Places left" value={event.places_left === null ? 'no limit' : count(event.places_left)} />
        <Figure label="Received" value={usd(figures.received_usd)} note={`${usd(event.price_usd)} a place`} />
      </Figures>
      <Panel title="Registrations">
        <Paged
          name="registrations"
          by={slug}
          label="Registrations, the newest first"
          columns={columnsOf(setEdited, isOperator ? setRefunded : undefined)}
          idOf={({ registration_id: id }) => id}
          read={async (cursor) => tallygate.marketingEvents.registrations(slug, from(cursor))}
          empty={<Empty title="Nobody has registered yet">People register on the page of the event once it is published.</Empty>}
        />
      </Panel>
      {refunded && <RefundPlace registration={refunded} onClose={() => setRefunded(undefined)} />}
      {edited && <EditRegistration registration={edited} onClose={() => setEdited(undefined)} />}
    </>
  );
}
