import type { MarketingEventRecord } from '@tallygate/sdk';
import { tallygate } from '../client.ts';
import { Dialog, Field, Form, given } from '../ui/dialog.tsx';
import { useReload } from '../ui/paged.tsx';
import { TextArea } from '../ui/text-area.tsx';

/** As `datetime-local` takes a moment, UTC. */
const local = (at: string | undefined): string => at?.slice(0, 16) ?? '';
const utc = (text: string | undefined): string => (text === undefined ? '' : new Date(`${text}Z`).toISOString());

function eventOf(fields: FormData) {
  const places = given(fields, 'capacity');
  return {
    ...{ title: given(fields, 'title') ?? '', summary: given(fields, 'summary') ?? '', description: given(fields, 'description') ?? '' },
    ...{ starts_at: utc(given(fields, 'starts')), ends_at: utc(given(fields, 'ends')), time_zone: given(fields, 'zone') ?? 'UTC' },
    ...{ venue_name: given(fields, 'venue') ?? null, online_url: given(fields, 'online') ?? null },
    ...{ capacity: places === undefined ? null : Number(places), price_usd: given(fields, 'price') ?? '0' },
  };
}

interface EditEventProps {
  readonly event: MarketingEventRecord | undefined;
  readonly onClose: () => void;
}

export function EditEvent({ event, onClose }: EditEventProps) {
  const reload = useReload('events', 'event');
  const canRename = event === undefined || event.published_at === null;
  const save = async (fields: FormData): Promise<void> => {
    const slug = given(fields, 'slug') ?? '';
    if (event) await tallygate.events.update(event.event_id, { ...eventOf(fields), ...(canRename && { slug }) });
    else await tallygate.events.create({ ...eventOf(fields), slug });
    await reload();
    onClose();
  };
  const zone = event?.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <Dialog title={event ? `Edit ${event.title}` : 'Plan an event'} onClose={onClose}>
      <Form action="Save" onSubmit={save} onCancel={onClose}>
        <Field name="title" label="Title" defaultValue={event?.title ?? ''} isRequired />
        {canRename && (
          <Field name="slug" label="Name in its address" placeholder="launch-day" defaultValue={event?.slug ?? ''} isRequired />
        )}
        <Field name="summary" label="Summary" defaultValue={event?.summary ?? ''} />
        <TextArea name="description" label="Description" defaultValue={event?.description ?? ''} />
        <Field name="starts" label="Begins, UTC" type="datetime-local" defaultValue={local(event?.starts_at)} isRequired />
        <Field name="ends" label="Ends, UTC" type="datetime-local" defaultValue={local(event?.ends_at)} isRequired />
        <Field name="zone" label="Time zone of the place" defaultValue={zone} isRequired />
        <Field name="venue" label="Place" defaultValue={event?.venue_name ?? ''} />
        <Field name="online" label="Address to join online" type="url" defaultValue={event?.online_url ?? ''} />
        <Field
          name="capacity"
          label="Places"
          inputMode="numeric"
          defaultValue={event?.capacity?.toString() ?? ''}
          hint="Empty: no limit. Others wait for a place."
        />
        <Field name="price" label="Price, USD" inputMode="decimal" defaultValue={event?.price_usd ?? '0'} />
      </Form>
    </Dialog>
  );
}
